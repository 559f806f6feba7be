"""GT202 and GT506 name the tensors that forward saves although they are intermediates."""

import inspect
from typing import Any

import pytest

from gradtool.engine import float64, randn, tensor
from gradtool.engine.autograd import Function
from gradtool.results.report import Finding
from gradtool.testing import check


class _Product(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        s, c = x.sin(), x.cos()
        ctx.save_for_backward(x, s, c)
        return s * c

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        _, s, c = ctx.saved_tensors
        return grad_output * (c * c - s * s)

    @staticmethod
    def sample_inputs() -> Any:
        yield (randn(3, dtype=float64, requires_grad=True),)


class BesideMask(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        e, mask = x.exp(), x > 0
        ctx.save_for_backward(mask, e)
        return e * e * mask

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        mask, e = ctx.saved_tensors
        return grad_output * 2 * e * e * mask

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor([0.4, -1.3, 0.9], dtype=float64, requires_grad=True),)


class FromSetup(Function):
    @staticmethod
    def forward(x: Any) -> Any:
        e = x.exp()
        return e * e, e.detach()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(output[1])
        doubled = output[0] * 2
        ctx.save_for_backward(doubled)

    @staticmethod
    def backward(ctx: Any, grad_output: Any, _: Any) -> Any:
        (doubled,) = ctx.saved_tensors
        return grad_output * doubled

    @staticmethod
    def sample_inputs() -> Any:
        yield (randn(3, dtype=float64, requires_grad=True),)


class ByBranch(_Product):
    """Two calls save: which of them ran is not in the source."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        s, c = x.sin(), x.cos()
        if x.dim() > 1:
            ctx.save_for_backward(x, c, s)
        else:
            ctx.save_for_backward(x, s, c)
        return s * c


class Rebound(Function):
    """An argument's name is given to what is computed from it."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        x = x.exp()
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * grad_output * x * x

    @staticmethod
    def sample_inputs() -> Any:
        yield (randn(3, dtype=float64, requires_grad=True),)


class RightAtTheSample(Function):
    """The second derivative is zero at the sample only."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        slope = 4 * x**3
        ctx.save_for_backward(slope)
        return x**4

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output * ctx.saved_tensors[0]

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor([0.0, 0.0], dtype=float64, requires_grad=True),)


def finding_of(function: Any, rule: str) -> Finding:
    (finding,) = [each for each in check(function).findings() if each.rule == rule]
    return finding


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (_Product, "autograd treats `s` and `c` as constants: recompute them in backward"),
        (BesideMask, "autograd treats `e` as a constant: recompute it in backward"),
        (FromSetup, "autograd treats `doubled` as a constant: recompute it in backward"),
        (ByBranch, "autograd treats a saved intermediate as a constant: recompute it in backward"),
    ],
)
def test_the_hint_of_a_cut_names_what_is_saved(function: Any, advice: str) -> None:
    assert advice in (finding_of(function, "GT202").hint or "")


def test_an_argument_that_is_set_anew_is_named_with_its_line() -> None:
    line = inspect.getsourcelines(Rebound.forward)[1] + 2
    assert f"autograd treats `x` (set on line {line}) as a constant" in (
        finding_of(Rebound, "GT202").hint or ""
    )


def test_a_warning_beside_the_sample_names_it_too() -> None:
    message = finding_of(RightAtTheSample, "GT506").message
    assert "forward saves `slope`, which autograd treats as a constant" in message
