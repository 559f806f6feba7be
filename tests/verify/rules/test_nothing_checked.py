"""Cases in which there is no derivative to compare, although backward computes one."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine.autograd import Function
from gradtool.testing import assert_right, check


class Step(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x > 0

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 1


class Mask(Step):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None


class Refused(Step):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        raise RuntimeError("a mask has no gradient")


def messages(function: Any, *args: Any) -> list[str]:
    report = check(function, [args], select=["GT119"])
    return [finding.message for finding in report.findings()]


def test_a_gradient_for_an_output_without_one_is_no_pass_when_strict() -> None:
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    (message,) = messages(Step, x)
    assert message == (
        "nothing was checked: every output is bool, and autograd never runs backward"
    )
    with pytest.raises(AssertionError, match="GT119"):
        assert_right(Step, [(x,)], strict=True)


def test_a_case_in_which_nothing_asks_for_a_gradient_is_named() -> None:
    class Twice(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    (message,) = messages(Twice, torch.arange(3))
    assert message.startswith("nothing was checked: no argument requires a gradient")
    assert not messages(Twice, torch.ones(3, dtype=torch.float64))


@pytest.mark.parametrize("function", [Mask, Refused])
def test_a_backward_without_a_gradient_says_that_there_is_none(function: Any) -> None:
    assert not messages(function, torch.randn(3, dtype=torch.float64, requires_grad=True))
