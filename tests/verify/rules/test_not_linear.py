"""GT107 tells a gradient that is not linear from one that is only rounding."""

from typing import Any

from gradtool.engine import autograd, enable_grad, float64, tensor
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


def rules(function: Any) -> set[str]:
    return {finding.rule for finding in check(function).findings()}


def test_roundings_that_do_not_add_up_are_no_finding() -> None:
    assert rules(Cancelling) == set()


def test_another_path_for_ones_is_one() -> None:
    assert rules(DoubledForOnes) == {"GT107"}
