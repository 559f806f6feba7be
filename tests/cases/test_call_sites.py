"""The module of a Function, read for what its code passes to the Function."""

from __future__ import annotations

from typing import Any

from gradtool import Function
from gradtool.cases.inference.calls.call_sites import module_source


class One(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2


class Other(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 3


def test_a_module_is_parsed_once_for_all_its_functions() -> None:
    tree, text = module_source(One)
    assert tree is not None
    assert "class Other" in text
    assert module_source(Other) == (tree, text)


def test_what_has_no_source_has_no_tree() -> None:
    assert module_source(len) == (None, "")
