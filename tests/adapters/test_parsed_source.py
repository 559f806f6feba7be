"""The source of a function is read once, as long as the function lives."""

from __future__ import annotations

import ast
import gc
import inspect
import weakref
from collections.abc import Callable

import pytest

from gradtool.adapters.common.parsed_source import own_source


def _made() -> Callable[[], int]:
    def function() -> int:
        return 1

    return function


def test_source_is_read_once_from_the_margin_on(monkeypatch: pytest.MonkeyPatch) -> None:
    function = _made()
    text, tree = own_source(function)
    assert text == "def function() -> int:\n    return 1\n"
    assert ast.unparse(tree.body[0]) == text.strip()
    monkeypatch.setattr(inspect, "getsource", lambda _: pytest.fail("it is read again"))
    assert own_source(function)[1] is tree


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
