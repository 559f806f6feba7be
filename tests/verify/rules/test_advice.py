"""Advice that speaks of the user's own lines and names, and can be followed as it is printed."""

from __future__ import annotations

import inspect

import pytest

import gradtool
import gradtool.engine as torch
from gradtool import Function
from gradtool.results.report import Finding


class Mixed(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx = gy = None
        if ctx.needs_input_grad[0]:
            gx = g * y
        if ctx.needs_input_grad[0]:  # mixed up
            gy = g * x
        return gx, gy


class MixedInExpressions(Mixed):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        _, second = ctx.needs_input_grad
        gx = g * y if second else None  # mixed up
        gy = g * x if second else None
        return gx, gy


class Nested(Mixed):
    @staticmethod
    def backward(ctx, g):
        _, y = ctx.saved_tensors
        gx = gy = None
        if any(ctx.needs_input_grad):
            if ctx.needs_input_grad[0]:
                gx = g * y
            if ctx.needs_input_grad[1]:
                gy = g * y
        return gx, gy


class LeftToReduce(Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        gw = g * x
        return g * weight, gw


class LeftToReduceInReturn(LeftToReduce):
    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g * weight, g * x


class Kept(Function):
    @staticmethod
    def forward(ctx, x):
        e = x.exp()
        ctx.save_for_backward(e)
        return e * e

    @staticmethod
    def backward(ctx, g):
        (e,) = ctx.saved_tensors
        return 2 * g * e * e


def found(function: type, *shapes: tuple[int, ...], select: str) -> Finding:
    case = tuple(torch.randn(*shape).double() for shape in shapes)
    (finding,) = gradtool.check(function, [case], select=[select]).findings()
    return finding


@pytest.mark.parametrize(
    ("function", "argument", "asked"), [(Mixed, "y", "01"), (MixedInExpressions, "x", "10")]
)
def test_the_line_that_asks_for_another_input_is_named(function, argument, asked):
    finding = found(function, (3,), (3,), select="GT109")
    lines, first = inspect.getsourcelines(function)
    line = first + next(at for at, text in enumerate(lines) if "mixed up" in text)
    wrong, right = asked
    assert finding.location.line == line
    assert finding.hint == (
        f"line {line} computes the gradient of `{argument}`, argument {right}, only if "
        f"needs_input_grad[{wrong}]: test needs_input_grad[{right}] instead"
    )


def test_a_condition_inside_of_another_asks_for_itself():
    lines = gradtool.check(Nested, [(torch.randn(3).double(), torch.randn(3).double())])
    hints = [finding.hint for finding in lines.findings()]
    assert not any(hint and "only if needs_input_grad" in hint for hint in hints)


@pytest.mark.parametrize(
    ("function", "gradient"), [(LeftToReduce, "gw"), (LeftToReduceInReturn, "(g * x)")]
)
def test_a_gradient_is_called_what_backward_returns(function, gradient):
    finding = found(function, (3, 4), (4,), select="GT116")
    assert finding.hint == f"for `weight`, return `{gradient}.sum_to_size(weight.shape)`"


def test_the_decorator_works_as_it_is_printed():
    finding = found(Kept, (3,), select="GT202")
    decorator = (finding.hint or "").rpartition("@")[2]
    assert decorator == "torch.autograd.function.once_differentiable"
    assert callable(eval(decorator, {"torch": torch}))
