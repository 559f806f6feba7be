"""GT107 tells a gradient that is not linear from one that is only rounding."""

from typing import Any

import pytest

from gradtool.engine import autograd, enable_grad, float16, float32, float64, tensor
from gradtool.engine.autograd import Function
from gradtool.testing import check


class Cancelling(Function):
    """The output and its gradient are zero but for roundings: a centred tensor has no mean."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return Cancelling.formula(x)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        with enable_grad():
            x = x if x.requires_grad else x.detach().requires_grad_()
            (grad,) = autograd.grad(Cancelling.formula(x), x, grad_output, create_graph=True)
        return grad

    @staticmethod
    def formula(x: Any) -> Any:
        centred = x - x.mean(-1, keepdim=True)
        return (x * centred.mean()).atan2(centred + 3)

    @staticmethod
    def sample_inputs() -> Any:
        numbers = [-0.1, 0.6, 0.1, -0.5, 0.4, 1.3, 0.9]
        yield (tensor(numbers, dtype=float64, requires_grad=True),)


class DoubledForOnes(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return 3 * x

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return 6 * grad_output if (grad_output == 1).all() else 3 * grad_output

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor([0.4, -1.3], dtype=float64, requires_grad=True),)


class SkipsSumsOfZero(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return 3 * x

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return 3 * grad_output if grad_output.sum() else grad_output * 0

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor([0.4, -1.3, 2.1], dtype=float64, requires_grad=True),)


def rules(function: Any) -> set[str]:
    return {finding.rule for finding in check(function).findings()}


def test_roundings_that_do_not_add_up_are_no_finding() -> None:
    assert rules(Cancelling) == set()


def test_another_path_for_ones_is_one() -> None:
    assert rules(DoubledForOnes) == {"GT107"}


def test_another_path_for_a_cotangent_that_adds_up_to_zero_is_one() -> None:
    assert rules(SkipsSumsOfZero) == {"GT107"}


class LoweredSine(Function):
    """An output whose cotangents have fewer digits and less range than the gradient."""

    dtype: Any = float16

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.sin().to(LoweredSine.dtype)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output.to(float64) * x.cos()

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor([0.4, -1.3, 0.7], dtype=float64, requires_grad=True),)


class DoubledForLarge(LoweredSine):
    """A gradient that doubles for cotangents beyond the usual size."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        grad = LoweredSine.backward(ctx, grad_output)
        return grad * 2 if (grad_output.abs() > 4).any() else grad


@pytest.mark.parametrize("dtype", [float16, float32])
def test_cotangents_that_underflow_in_the_dtype_of_the_output_are_no_finding(
    dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoweredSine, "dtype", dtype)
    assert "GT107" not in rules(LoweredSine)
    assert "GT107" in rules(DoubledForLarge)
