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


NARROW = ["bfloat16", "float8_e4m3fn", "float8_e5m2"]
"""Dtypes of ml_dtypes; NumPy gives the last one the kind of its own floats."""


@pytest.mark.parametrize("name", NARROW)
def test_an_output_in_a_dtype_that_numpy_lacks_cannot_be_compared(name: str) -> None:
    class Quantized(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.to(getattr(torch, name))

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    (message,) = messages(Quantized, torch.randn(3, dtype=torch.float64, requires_grad=True))
    assert message == (
        f"nothing was checked: every output is {name}, and autograd never runs backward"
    )


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize(("factor", "found"), [(2.0, set()), (3.0, {"GT101"})])
def test_what_is_next_to_such_an_output_is_compared(
    name: str, factor: float, found: set[str]
) -> None:
    class Scaled(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.to(getattr(torch, name)), x * 2

        @staticmethod
        def backward(ctx: Any, _: Any, g: Any) -> Any:
            return g * factor

    report = check(Scaled, [(torch.randn(3, dtype=torch.float64, requires_grad=True),)])
    assert {finding.rule for finding in report.findings()} == found


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


class Half(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * x


class Square(Half):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 2 * x


def compared(function: Any, *values: float, **tolerance: float) -> int:
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    report = check(function, [(x,)], explore="off", **tolerance)
    (case,) = (each for _, f in report.functions() for each in f.cases)
    return case.compared


@pytest.mark.parametrize("tolerance", [{"rtol": 0.9}, {"rtol": 0.5}, {"atol": 1e6}])
def test_a_tolerance_that_accepts_half_of_a_gradient_compares_nothing(
    tolerance: dict[str, float],
) -> None:
    assert compared(Half, 1.0, 2.0, **tolerance) == 0
    assert compared(Square, 1.0, 2.0, **tolerance) == 0


def test_a_tolerance_below_it_compares() -> None:
    assert compared(Square, 1.0, 2.0, rtol=0.3)
    assert compared(Square, 1.0, 2.0, atol=0.1)
    assert compared(Square, 0.0, 0.0, atol=0.1), "a gradient of zero is compared"


def test_arguments_whose_squares_underflow_compare_nothing() -> None:
    assert compared(Half, 1e-300, 2e-300) == 0
    assert compared(Square, 1e-20, 2e-20)


class Length(Function):
    @staticmethod
    def forward(ctx: Any, v: Any) -> Any:
        ctx.save_for_backward(v)
        largest = v.abs().amax()
        return largest * (v / largest).pow(2).sum().sqrt()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (v,) = ctx.saved_tensors
        return g * v / v.pow(2).sum().sqrt()


def rules(*values: float) -> list[str]:
    v = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    report = check(Length, [(v,)], explore="off", select=["GT101", "GT114"])
    return [finding.rule for finding in report.findings()]


def test_a_mistake_at_arguments_whose_squares_underflow_is_found() -> None:
    assert not rules(3.0, -4.0)
    assert rules(3e-169, -4e-169) == ["GT101"]
