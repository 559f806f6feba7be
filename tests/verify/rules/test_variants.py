"""GT116, GT117 and GT601 on Functions of the bundled engine."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool
import gradtool.engine as torch
from gradtool import Function
from gradtool.results.report import Severity
from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options

CODES = ("GT116", "GT117", "GT601")


def found(function: Any, *arguments: Any) -> list[tuple[str, str, str]]:
    """The rules broken, each with its severity and message."""
    report = gradtool.check(function, [arguments], select=CODES)
    return [(f.rule, f.severity.value, f.message) for f in report.findings()]


def double(*shape: int) -> Any:
    return torch.randn(*shape, dtype=torch.float64)


class Add(Function):
    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, g):
        return g, g


class Linear(Function):
    """Has a float64 matrix in backward."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return g @ weight.double().T, x.T @ g


class DoubleReturned(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g.double() * 2


class Square(Function):
    """Says that it is for complex numbers, and forgets the conjugate."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.is_complex = x.is_complex()
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x


class RealSquare(Square):
    """Does not speak of complex numbers."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x


class Eigenvectors(Function):
    """For complex numbers too, where eigenvectors have a phase that nothing determines."""

    @staticmethod
    def forward(ctx, x):
        values, vectors = torch.linalg.eigh(x)
        ctx.save_for_backward(values, vectors.conj())
        return values, vectors

    @staticmethod
    def backward(ctx, g_values, g_vectors):
        values, conjugate = ctx.saved_tensors
        gaps = values[None, :] - values[:, None] + torch.eye(len(values)).to(values)
        inner = torch.diag(g_values) + (1 - torch.eye(len(values)).to(values)) * (
            conjugate.T @ g_vectors / gaps
        )
        found = conjugate.conj() @ inner @ conjugate.T
        return (found + found.conj().T) / 2


def test_eigenvectors_of_complex_matrices_are_not_compared() -> None:
    matrix = torch.tensor([[2.0, 0.3, -0.4], [0.3, 1.0, 0.2], [-0.4, 0.2, -1.0]]).double()
    assert found(Eigenvectors, matrix) == []


def single(product: Any) -> Any:
    return (product.float()).double()


class Sine(Function):
    convert = staticmethod(single)

    @classmethod
    def slope(cls, x: Any) -> Any:
        return cls.convert(x.cos())

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * Sine.slope(x)


def test_a_gradient_left_to_autograd_is_a_note() -> None:
    ((rule, severity, message),) = found(Add, double(3, 4), double(4))
    assert (rule, severity) == ("GT116", "note")
    assert message.startswith("gradient of `bias` has shape [3, 4], but `bias` has shape [4]: ")


def test_a_gradient_of_the_right_shape_is_none() -> None:
    assert found(Add, double(3, 4), double(3, 4)) == []


def test_a_backward_that_raises_in_float32_is_an_error() -> None:
    ((rule, severity, message),) = found(Linear, double(2, 3), double(3, 4))
    assert (rule, severity) == ("GT117", "error")
    assert message.startswith("backward fails for float32 inputs, which forward accepts: ")


def test_a_gradient_in_double_for_single_inputs_is_a_note() -> None:
    ((rule, severity, message),) = found(DoubleReturned, double(3))
    assert (rule, severity) == ("GT117", "note")
    assert "is also float64 for float32 inputs, which forward accepts: autograd casts it" in message


def test_a_missing_conjugate_is_a_note_where_the_code_speaks_of_complex_numbers() -> None:
    ((rule, severity, message),) = found(Square, double(3))
    assert (rule, severity) == ("GT117", "note")
    assert message == "gradient of `x` is wrong for complex inputs, which forward accepts"


def test_it_is_no_news_where_nobody_thought_of_complex_numbers() -> None:
    assert found(RealSquare, double(3)) == []


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_digits_lost_in_backward(scale: float) -> None:
    ((rule, severity, message),) = found(Sine, scale * double(3))
    assert (rule, severity) == ("GT601", "error")
    assert "backward loses digits" in message


DOCUMENTED = '''"""Unit phases of real or complex signals."""
import torch
from torch.autograd import Function


class Phase(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.rsqrt(x.abs().square() + 0.1)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        r = torch.rsqrt(x.abs().square() + 0.1)
        return grad_output * r - x * x * grad_output * r**3
'''


SAYS_SO = '"""Unit phases of real or complex signals."""'
OF_THE_CLASS = DOCUMENTED.replace(SAYS_SO, "").replace(
    "(Function):\n", f"(Function):\n    {SAYS_SO}\n\n"
)


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (DOCUMENTED, Severity.ERROR),
        (OF_THE_CLASS, Severity.ERROR),
        (DOCUMENTED.replace("complex", "conjugate"), None),
    ],
)
def test_a_missing_conjugate_is_an_error_where_complex_inputs_are_documented(
    write: Write, text: str, severity: Severity | None
) -> None:
    write({"phase.py": text})
    found = check(check_options(paths=("phase.py",), explore="off")).findings()
    assert [each.severity for each in found if each.rule == "GT117"] == [severity] * bool(severity)
