"""What is compiled is the source, whatever lies beside it."""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import sys
from pathlib import Path

import pytest

from gradtool.collect import source_loader
from gradtool.collect.loader import Loader
from gradtool.collect.source_loader import is_local


def forge(source: Path, code: str) -> None:
    """Put a ``.pyc`` beside `source` that says it need not be compared with it."""
    place = Path(importlib.util.cache_from_source(str(source)))
    place.parent.mkdir(parents=True, exist_ok=True)
    header = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)
    place.write_bytes(header + marshal.dumps(compile(code, str(source), "exec")))


@pytest.fixture(autouse=True)
def _forget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


@pytest.mark.parametrize("name", ["ops.py", "pack/ops.py", "helper.py", "pack/helper.py"])
def test_an_unchecked_pyc_is_not_run_in_place_of_the_source(tmp_path: Path, name: str) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    inside = name.startswith("pack")
    module = tmp_path / ("pack/ops.py" if inside else "ops.py")
    imported = "from .helper import VALUE" if inside else "from helper import VALUE"
    module.write_text(f"{imported}\nOWN = 'source'")
    module.with_name("helper.py").write_text("VALUE = 'source'")
    forge(tmp_path / name, "VALUE = OWN = 'forged'")
    loaded = Loader().load(module).module
    assert (loaded.VALUE, loaded.OWN) == ("source", "source")


def test_a_module_elsewhere_on_the_path_is_compiled_from_source_too(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "elsewhere.py").write_text("VALUE = 'source'")
    forge(tmp_path / "lib" / "elsewhere.py", "VALUE = 'forged'")
    sys.path.append(str(tmp_path / "lib"))
    (tmp_path / "ops.py").write_text("from elsewhere import VALUE")
    try:
        assert Loader().load(tmp_path / "ops.py").module.VALUE == "source"
    finally:
        sys.modules.pop("elsewhere", None)


def test_only_a_package_is_given_what_was_imported_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look at all modules copies the pages of memory that a worker shares."""
    monkeypatch.setattr(source_loader, "_left_below", lambda _: pytest.fail("it looks at all"))
    (tmp_path / "ops.py").write_text("VALUE = 1")
    assert Loader().load(tmp_path / "ops.py").module.VALUE == 1


def test_no_pyc_is_left_beside_a_local_module(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("import helper")
    (tmp_path / "helper.py").write_text("")
    Loader().load(tmp_path / "ops.py")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["helper.py", "ops.py"]


def test_the_digest_is_that_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_bytes(b"x = 1\n")
    digest = hashlib.sha256(b"x = 1\n").hexdigest()
    assert Loader().load(tmp_path / "ops.py").digest == digest


def test_what_is_installed_is_not_local() -> None:
    import msgspec

    assert not is_local(str(msgspec.__file__))
    assert not is_local("/another/environment/lib/python3.11/site-packages/torch/__init__.py")
    assert not is_local(str(importlib.util.__file__))
    assert is_local("/home/me/ops.py")
