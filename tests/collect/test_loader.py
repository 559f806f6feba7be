"""Files load as Python would load them; an error is one line with a location."""

from __future__ import annotations

import os
import random
import sys
import textwrap
from pathlib import Path

import pytest

import gradtool.engine
from gradtool.collect.loader import LoadedModule, Loader, LoadError


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


def load(path: Path) -> LoadedModule:
    return Loader().load(path)


def refused(path: Path) -> LoadError:
    with pytest.raises(LoadError) as error:
        load(path)
    assert "\n" not in error.value.message
    return error.value


def test_a_plain_file_imports_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": "from helper import VALUE", "helper.py": "VALUE = 3"})
    loaded = load(tmp_path / "ops.py")
    assert loaded.module.VALUE == 3
    assert loaded.module.__name__ == "ops"


def test_a_module_of_a_package_keeps_its_dotted_name_and_relative_imports(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "src/pkg/__init__.py": "NAME = 'pkg'",
            "src/pkg/sub/__init__.py": "",
            "src/pkg/sub/ops.py": "from .. import NAME\nfrom .helper import X\nimport pkg.sub",
            "src/pkg/sub/helper.py": "X = 1",
        },
    )
    loaded = load(tmp_path / "src/pkg/sub/ops.py")
    assert loaded.module.__name__ == "pkg.sub.ops"
    assert loaded.module.NAME == "pkg"


def test_a_package_itself_can_be_checked(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/__init__.py": "from .ops import X", "pkg/ops.py": "X = 1"})
    loaded = load(tmp_path / "pkg/__init__.py")
    assert (loaded.module.__name__, loaded.module.X) == ("pkg", 1)


def test_a_folder_without_init_is_a_namespace(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": "from shared.tools import X", "shared/tools.py": "X = 1"})
    assert load(tmp_path / "ops.py").module.X == 1


def test_a_data_folder_does_not_hide_an_installed_package(tmp_path: Path) -> None:
    write(
        tmp_path, {"ops.py": "import hypothesis\nX = hypothesis.given", "hypothesis/data.txt": ""}
    )
    assert callable(load(tmp_path / "ops.py").module.X)


def test_a_file_named_as_the_standard_library_loads_without_hiding_it(tmp_path: Path) -> None:
    write(tmp_path, {"random.py": "import random\nSAME = random\nMINE = 1"})
    loaded = load(tmp_path / "random.py")
    assert loaded.module.MINE == 1
    assert loaded.module.SAME is random
    assert sys.modules["random"] is random


@pytest.mark.parametrize("stem", ["my-ops", "2nd", "class"])
def test_a_file_whose_name_is_no_identifier_loads(tmp_path: Path, stem: str) -> None:
    write(tmp_path, {f"{stem}.py": "X = 1"})
    assert load(tmp_path / f"{stem}.py").module.X == 1


def test_files_of_the_same_stem_do_not_meet(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(
            tmp_path / name,
            {"ops.py": "from helper import WHO\nimport helper", "helper.py": f"WHO = {name!r}"},
        )
    loader = Loader()
    first, second = loader.load(tmp_path / "a/ops.py"), loader.load(tmp_path / "b/ops.py")
    assert (first.module.WHO, second.module.WHO) == ("a", "b")
    assert first.module is not second.module
    assert not {"ops", "helper"} & sys.modules.keys()


def test_imports_inside_functions_find_what_load_found(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(
            tmp_path / name,
            {
                "ops.py": "def who():\n    import late\n    return late.WHO, late",
                "late.py": f"WHO = {name!r}",
            },
        )
    loader = Loader()
    first, second = loader.load(tmp_path / "a/ops.py"), loader.load(tmp_path / "b/ops.py")
    with first.active():
        (who, late) = first.module.who()
        assert who == "a"
        assert sys.modules["ops"] is first.module
    with second.active():
        assert second.module.who()[0] == "b"
    with first.active():
        assert first.module.who()[1] is late


def test_files_of_one_folder_share_what_they_import(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a.py": "import shared", "b.py": "import shared, a", "shared.py": "LIST = []"},
    )
    loader = Loader()
    a, b = loader.load(tmp_path / "a.py"), loader.load(tmp_path / "b.py")
    assert a.module.shared is b.module.shared
    assert b.module.a is a.module
    assert loader.load(tmp_path / "a.py").module is a.module


def test_nothing_stays_behind(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": "import helper", "helper.py": ""})
    modules, path, finders = dict(sys.modules), list(sys.path), list(sys.meta_path)
    load(tmp_path / "ops.py")
    assert (dict(sys.modules), sys.path, sys.meta_path) == (modules, path, finders)


def test_a_missing_file_of_imports_names_the_users_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"ops.py": "\nimport helper\n", "helper.py": "\n\nimport no_such_thing\n"})
    error = refused(tmp_path / "ops.py")
    assert error.message == "import raised ModuleNotFoundError: No module named 'no_such_thing'"
    assert error.cause is not None
    assert error.cause.location is not None
    assert (error.cause.location.path, error.cause.location.line) == ("helper.py", 3)
    assert 'ops.py", line 2' in error.cause.detail
    assert "import_root" not in error.cause.detail
    assert "load.py" not in error.cause.detail


def test_an_error_raised_in_a_library_names_the_users_line(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": "import json\n\njson.loads('{')\n"})
    error = refused(tmp_path / "ops.py")
    assert error.message.startswith("import raised JSONDecodeError: Expecting property name")
    assert error.cause is not None
    assert error.cause.location is not None
    assert error.cause.location.line == 3


def test_a_syntax_error_names_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"ops.py": "x = 1\ny = (\n"})
    error = refused(tmp_path / "ops.py")
    assert error.message == "is not valid Python: SyntaxError: '(' was never closed"
    assert error.cause is not None
    assert error.cause.location is not None
    assert (error.cause.location.path, error.cause.location.line) == ("ops.py", 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise SystemExit(3)", "import ended the process: SystemExit: 3"),
        ("import sys; sys.exit()", "import ended the process: SystemExit"),
        ("raise ValueError('one\\ntwo')", "import raised ValueError: one"),
        ("raise ValueError", "import raised ValueError"),
        ("class Odd(BaseException): pass\nraise Odd('x')", "import raised Odd: x"),
        ("def f(): f()\nf()", "import raised RecursionError: maximum recursion depth exceeded"),
        (
            "class Mute(Exception):\n def __str__(self): raise KeyError\nraise Mute",
            "import raised Mute: <its text raised KeyError>",
        ),
    ],
)
def test_whatever_is_raised_at_import_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, {"ops.py": text})
    assert refused(tmp_path / "ops.py").message == message


def test_an_interrupt_is_not_an_error_of_the_module(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": "raise KeyboardInterrupt"})
    with pytest.raises(KeyboardInterrupt):
        load(tmp_path / "ops.py")


def test_a_file_with_null_bytes_is_not_python(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_bytes(b"x = 1\0")
    error = refused(tmp_path / "ops.py")
    assert error.message.startswith("is not valid Python: ")
    assert error.cause is not None
    assert error.cause.location is not None
    assert error.cause.location.path.endswith("/ops.py")


def test_a_file_in_an_unknown_encoding_is_not_python(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_bytes(b"x = '\xff'\n")
    assert refused(tmp_path / "ops.py").message.startswith("is not valid Python: SyntaxError")


def test_an_unreadable_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"ops.py": ""})

    def denied(path: Path, flags: int) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert refused(tmp_path / "ops.py").message == "cannot be read: Permission denied"


def test_after_a_failure_the_module_is_not_half_imported(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": "import flag\nif flag.BAD: raise ValueError", "flag.py": "BAD = 1"})
    loader = Loader()
    with pytest.raises(LoadError):
        loader.load(tmp_path / "ops.py")
    with pytest.raises(LoadError, match="ValueError"):
        loader.load(tmp_path / "ops.py")


def test_a_link_to_itself_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "ops.py").symlink_to("ops.py")
    assert "cannot be read: Too many levels" in refused(tmp_path / "ops.py").message


def test_a_relative_import_without_a_package_is_explained(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": "from .helper import X", "helper.py": "X = 1"})
    hint = refused(tmp_path / "ops.py").hint
    assert hint == "add an __init__.py to its folder, so that the file belongs to a package"


def test_torch_is_the_engine_for_the_module_and_for_nobody_else(tmp_path: Path) -> None:
    write(
        tmp_path, {"ops.py": "import torch\n\ndef late():\n    import torch.nn\n    return torch"}
    )
    before = sys.modules.get("torch")
    loaded = load(tmp_path / "ops.py")
    assert loaded.module.torch is gradtool.engine
    assert sys.modules.get("torch") is before
    with loaded.active():
        assert loaded.module.late() is gradtool.engine
    assert sys.modules.get("torch") is before


def test_a_package_hidden_by_the_standard_library_is_reported(tmp_path: Path) -> None:
    write(tmp_path, {"json/__init__.py": "", "json/ops.py": "X = 1"})
    assert "import raised ModuleNotFoundError" in refused(tmp_path / "json/ops.py").message
    assert "rename the package" in refused(tmp_path / "json/__init__.py").message


def test_a_module_that_answers_to_any_name_is_no_obstacle(tmp_path: Path) -> None:
    odd = """
        import sys, types

        class Odd(types.ModuleType):
            def __getattr__(self, name):
                return self

        sys.modules["odd_namespace"] = Odd("odd_namespace")
        VALUE = 3
    """
    write(tmp_path, {"ops.py": odd})
    try:
        assert load(tmp_path / "ops.py").module.VALUE == 3
    finally:
        sys.modules.pop("odd_namespace", None)
