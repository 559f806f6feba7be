"""GT103 names the input, both shapes, and the rearrangement that is the derivative."""

from typing import Any

import pytest

from gradtool.engine import float64, randn
from gradtool.engine.autograd import Function
from gradtool.results.report import Finding
from gradtool.testing import check


class _Shaped(Function):
    @staticmethod
    def sample_inputs() -> Any:
        yield (randn(2, 3, 4, dtype=float64, requires_grad=True),)


class Transposed(_Shaped):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.permute(2, 0, 1) * 2

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output * 2


class Matrix(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return 2 * x.t()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return 2 * grad_output

    @staticmethod
    def sample_inputs() -> Any:
        yield (randn(3, 4, dtype=float64, requires_grad=True),)


class WrongMatrix(Matrix):
    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return 3 * grad_output


class Reduced(_Shaped):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.sum(1)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output


class Flat(_Shaped):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 3

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return (grad_output * 3).reshape(-1)


class Unrelated(Flat):
    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.new_zeros(7)


@pytest.mark.parametrize(
    ("function", "shapes", "fix"),
    [
        (Matrix, ((4, 3), (3, 4)), "grad.T"),
        (Transposed, ((4, 2, 3), (2, 3, 4)), "grad.permute(1, 2, 0)"),
        (Reduced, ((2, 4), (2, 3, 4)), "grad.unsqueeze(1).expand(2, 3, 4)"),
        (Flat, ((24,), (2, 3, 4)), "grad.reshape(2, 3, 4)"),
    ],
)
def test_the_hint_is_a_rearrangement_that_is_the_derivative(
    function: Any, shapes: tuple[tuple[int, ...], ...], fix: str
) -> None:
    finding = _finding(function)
    returned, own = map(list, shapes)
    assert finding.message == f"gradient of `x` has shape {returned}, but `x` has shape {own}"
    assert finding.hint is not None
    assert finding.hint.startswith(f"return `{fix}`, where ")


@pytest.mark.parametrize("function", [WrongMatrix, Unrelated])
def test_no_rearrangement_is_suggested_that_is_not_the_derivative(function: Any) -> None:
    assert _finding(function).hint == "make the gradient match the shape of the input"


def _finding(function: Any) -> Finding:
    report = check(function, select=["GT103"])
    (finding,) = report.findings()
    return finding
