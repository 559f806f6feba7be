"""A file in a namespace package finds what its package imports by the whole dotted name."""

from __future__ import annotations

from pathlib import Path

from gradtool.collect.loader import Loader


def test_the_folder_above_a_namespace_package_is_where_imports_start(tmp_path: Path) -> None:
    core = tmp_path / "space" / "core"
    core.mkdir(parents=True)
    (core / "__init__.py").write_text("")
    (core / "const.py").write_text("FACTOR = 2.0\n")
    (core / "ops.py").write_text("from space.core.const import FACTOR\n\ndef double(x): ...\n")
    loaded = Loader().load(core / "ops.py")
    assert loaded.module.__name__ == "space.core.ops"
    assert loaded.module.FACTOR == 2.0
    assert loaded.notes == ()
