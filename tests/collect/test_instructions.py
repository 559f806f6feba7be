"""What the code of a function tells without its source."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from gradtool import once_differentiable
from gradtool.collect.instructions import may_raise, may_set_attributes


def plain(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x


def keeps(ctx: Any, x: Any) -> Any:
    ctx.x = x


def refuses(ctx: Any, x: Any) -> Any:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("function", "raises", "sets"),
    [
        (plain, False, False),
        (keeps, False, True),
        (refuses, True, False),
        (staticmethod(plain), False, False),
        (once_differentiable(refuses), True, False),
        (functools.partial(plain, None), True, True),
    ],
)
def test_only_the_code_of_plain_functions_rules_something_out(
    function: Any, raises: bool, sets: bool
) -> None:
    assert may_raise(function) is raises
    assert may_set_attributes(function) is sets
