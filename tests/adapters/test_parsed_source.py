"""The source of a function is read once, as long as the function lives."""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import linecache
import sys
import weakref
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gradtool.adapters.common.parsed_source import docstring_of, own_source, walked


def _made() -> Callable[[], int]:
    def function() -> int:
        return 1

    return function


def test_source_is_read_once_from_the_margin_on(monkeypatch: pytest.MonkeyPatch) -> None:
    function = _made()
    text, tree = own_source(function)
    assert text == "def function() -> int:\n    return 1\n"
    assert ast.unparse(tree.body[0]) == text.strip()
    monkeypatch.setattr(linecache, "getlines", lambda _: pytest.fail("it is read again"))
    assert own_source(function)[1] is tree


def test_no_other_module_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect, "getmodule", lambda *_: pytest.fail("it looks at all modules"))
    assert own_source(_made())[0].startswith("def function")


def test_a_module_in_an_archive_has_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("archived_module.py", "def archived():\n    return 1\n")
    monkeypatch.syspath_prepend(tmp_path / "archive.zip")
    archived = importlib.import_module("archived_module").archived
    monkeypatch.delitem(sys.modules, "archived_module")
    assert own_source(archived)[0] == "def archived():\n    return 1\n"


def test_it_keeps_no_function_alive() -> None:
    function = _made()
    own_source(function)
    held = weakref.ref(function)
    del function
    gc.collect()
    assert held() is None


def test_what_has_no_source_raises_each_time() -> None:
    for _ in range(2):
        with pytest.raises(TypeError):
            own_source(len)


def test_a_tree_is_walked_once() -> None:
    _, tree = own_source(_made())
    assert walked(tree) is walked(tree)
    assert list(walked(tree)) == list(ast.walk(tree))


def test_a_docstring_is_not_inherited() -> None:
    class Base:
        """Scales."""

        def forward(self) -> None:
            """Compute y = a * x."""

    class Derived(Base):
        def forward(self) -> None: ...

    assert docstring_of(Base.forward) == "Compute y = a * x."
    assert docstring_of(Derived.forward) == docstring_of(Derived) == ""
