"""Gradients that are off by more than rounding, and by less than the tolerance of GT101."""

from __future__ import annotations

import math
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine.autograd import Function
from gradtool.results.report import Finding, Severity
from gradtool.testing import check

ROUGHLY = 0.7978846
EXACTLY = math.sqrt(2 / math.pi)


class Wave(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.sin(math.sqrt(2 / math.pi) * x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * EXACTLY * torch.cos(EXACTLY * x)


class Literal(Wave):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 0.7978846 * torch.cos(EXACTLY * x)


class Named(Wave):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * ROUGHLY * torch.cos(EXACTLY * x)


class ForwardIsShort(Wave):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.sin(0.7978846 * x)


class OpIsExact(Function):
    """Its forward has the number inside an operation."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.erf(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 1.1283792 * torch.exp(-x * x)


class Guarded(Function):
    """Its backward forgets the small number that forward adds."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.log(x * x + 1e-8)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 2 / x


class InSingle(Function):
    """Forward makes a float32 tensor of its two numbers."""

    @staticmethod
    def forward(ctx: Any, x: Any, slope: float = 0.01) -> Any:
        ctx.save_for_backward(x)
        ctx.slope = slope
        return x * torch.where(x > 0, 1.0, slope)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, g, ctx.slope * g), None


class CreatesSingle(Function):
    """Its backward makes a tensor of constants without a dtype."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return (x * torch.tensor([0.1, 0.3, 0.7], dtype=x.dtype)).sum()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * torch.tensor([0.1, 0.3, 0.7]).double()


def findings(function: Any, x: Any = (0.7, -1.3, 2.1), **options: Any) -> list[Finding]:
    dtype = options.pop("of", torch.float64)
    given = torch.tensor(x, dtype=dtype)
    report = check(function, [(given,)], select=["GT101", "GT118"], **options)
    return list(report.findings())


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (Literal, "0.7978846 is used where forward has math.sqrt(2 / math.pi) = 0.7978845608"),
        (Named, "0.7978846 is used where forward has math.sqrt(2 / math.pi) = 0.7978845608"),
        (ForwardIsShort, "math.sqrt(2 / math.pi) is used where forward has 0.7978846"),
        (OpIsExact, "1.1283792 is used instead of 2 / sqrt(pi) = 1.128379167"),
        (Guarded, "; worst at [0], for output 0 at [0]: analytic 2.8571429, exact 2.8571428"),
    ],
)
def test_a_small_mistake_is_a_warning_that_names_it(function: Any, words: str) -> None:
    (finding,) = findings(function)
    assert (finding.rule, finding.severity) == ("GT118", Severity.WARNING)
    assert finding.message.endswith(words)


def test_a_number_that_forward_rounds_to_float32_is_a_note() -> None:
    (finding,) = findings(InSingle)
    assert (finding.rule, finding.severity) == ("GT118", Severity.NOTE)
    assert finding.message.endswith(
        "a Python number becomes a tensor of float32, the default dtype"
    )


def test_constants_in_a_tensor_without_a_dtype_are_a_warning() -> None:
    (finding,) = findings(CreatesSingle)
    assert (finding.rule, finding.severity) == ("GT118", Severity.WARNING)
    assert finding.hint == "give the tensor that holds constants the dtype of an argument"


def test_the_difference_is_given_as_a_part_of_the_entry() -> None:
    (finding,) = findings(Literal)
    assert "differs from the derivative by 4.9e-08 of its size in 3 of 3 entries" in finding.message


@pytest.mark.parametrize("x", [(0.7, -1.3, 2.1), (1e-9, 3e7, 1e-30), (0.0, math.pi, 1e5)])
def test_rounding_is_no_imprecision(x: tuple[float, ...]) -> None:
    assert not findings(Wave, x)


def test_a_long_sum_in_another_order_is_no_imprecision() -> None:
    class Mean(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return ((x - x.mean()) ** 2).mean().sqrt()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            spread = (x * x).mean() - x.mean() ** 2
            return g * (x - x.mean()) / len(x) / spread.sqrt()

    assert not findings(Mean, tuple(100 + math.sin(k) for k in range(50)))


def test_single_precision_is_not_asked_for_more_digits() -> None:
    assert not findings(Literal, of=torch.float32)


def test_a_given_tolerance_says_what_is_good_enough() -> None:
    assert not findings(Literal, rtol=1e-6)


def test_evaluations_alone_show_no_imprecision() -> None:
    assert not findings(Literal, witness=False)


class LogSigmoid(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return -torch.nn.functional.softplus(-x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * torch.sigmoid(-x)


def test_a_sigmoid_is_as_good_as_the_slope_of_softplus_beyond_its_threshold() -> None:
    x = torch.tensor([-21.0, -20.5, 3.0], dtype=torch.float64, requires_grad=True)
    assert not list(check(LogSigmoid, [(x,)]).findings())
