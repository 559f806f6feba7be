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


def test_relative_imports_cross_a_folder_without_init(tmp_path: Path) -> None:
    inner = tmp_path / "pack" / "part" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "const.py").write_text("FACTOR = 2.0\n")
    (tmp_path / "pack" / "part" / "other.py").write_text("TERM = 1.0\n")
    (inner / "__init__.py").write_text("")
    (inner / "helper.py").write_text("from ...const import FACTOR\n")
    (inner / "ops.py").write_text(
        "from ..other import TERM\nfrom .helper import FACTOR\n\ndef double(x): ...\n"
    )
    loaded = Loader().load(inner / "ops.py")
    assert loaded.module.__name__ == "pack.part.inner.ops"
    assert (loaded.module.FACTOR, loaded.module.TERM) == (2.0, 1.0)
    assert loaded.notes == ()


def test_relative_imports_go_up_where_no_folder_has_an_init(tmp_path: Path) -> None:
    (tmp_path / "pack" / "part").mkdir(parents=True)
    (tmp_path / "pack" / "const.py").write_text("FACTOR = 2.0\n")
    ops = tmp_path / "pack" / "part" / "ops.py"
    ops.write_text("from ..const import FACTOR\n\ndef double(x): ...\n")
    loaded = Loader().load(ops)
    assert (loaded.module.__name__, loaded.module.FACTOR) == ("pack.part.ops", 2.0)
    assert loaded.notes == ()


def test_a_relative_import_of_what_is_not_there_stays_in_its_package(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("from ..missing import TERM\n\ndef double(x): ...\n")
    loaded = Loader().load(tmp_path / "ops.py")
    assert loaded.module.__name__ == "ops"
    assert len(loaded.notes) == 1


def test_a_missing_package_below_a_folder_without_init_gets_a_stand_in(tmp_path: Path) -> None:
    part = tmp_path / "whole" / "part"
    part.mkdir(parents=True)
    (tmp_path / "whole" / "__init__.py").write_text("from .part.helper import FACTOR\n")
    (part / "helper.py").write_text("import no_such_package\n\nFACTOR = 2.0\n")
    (part / "ops.py").write_text("from ..part.helper import FACTOR\n\ndef double(x): ...\n")
    loaded = Loader().load(part / "ops.py")
    assert loaded.module.FACTOR == 2.0
    assert loaded.failure is None
    assert [each.partition(": ")[2][:15] for each in loaded.notes] == ["no_such_package"]
