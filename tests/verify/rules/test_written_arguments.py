"""GT504 and an argument that backward writes to: an error where results depend on it."""

from typing import Any

from gradtool.engine import float64, ones, tensor, zeros
from gradtool.engine.autograd import Function
from gradtool.results.report import Severity
from gradtool.testing import check


class AddsToBuffer(Function):
    """A product with `weight`, whose gradient is added to `buffer`."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, buffer: Any) -> Any:
        ctx.save_for_backward(x, weight)
        ctx.buffer = buffer
        return x * weight

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, weight = ctx.saved_tensors
        ctx.buffer.add_((grad_output * x).detach())
        return grad_output * weight, None, None

    @staticmethod
    def sample_inputs() -> Any:
        x = tensor([0.4, -1.3], dtype=float64, requires_grad=True)
        yield x, tensor([2.0, 3.0], dtype=float64), zeros(2, dtype=float64)


class ScalesItsWeight(AddsToBuffer):
    """The same, where `buffer` is a factor of the result."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, buffer: Any) -> Any:
        ctx.save_for_backward(x, weight * buffer)
        ctx.buffer = buffer
        return x * weight * buffer

    @staticmethod
    def sample_inputs() -> Any:
        x = tensor([0.4, -1.3], dtype=float64, requires_grad=True)
        yield x, tensor([2.0, 3.0], dtype=float64), ones(2, dtype=float64)


def found(function: Any) -> list[tuple[str, Severity]]:
    return [(each.rule, each.severity) for each in check(function).findings()]


def test_an_argument_that_nothing_depends_on_may_be_written_to() -> None:
    assert found(AddsToBuffer) == [("GT504", Severity.NOTE)]


def test_an_argument_that_results_depend_on_may_not() -> None:
    assert ("GT504", Severity.ERROR) in found(ScalesItsWeight)
