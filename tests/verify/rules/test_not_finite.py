"""GT114 names the expression of backward that is NaN first, and what makes it so."""

from pathlib import Path
from typing import Any

import pytest

from gradtool.engine import exp, float64, log, tensor, where, zeros_like
from gradtool.engine.autograd import Function
from gradtool.engine.autograd.function import once_differentiable
from gradtool.testing import check


class Norm(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        norm = x.square().sum(1, keepdim=True).sqrt()
        ctx.save_for_backward(x, norm)
        return where(norm > 0, norm, zeros_like(norm))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        x, norm = ctx.saved_tensors
        unit = x / norm
        return g * unit

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor([[1.0, 2.0], [0.0, 0.0]], dtype=float64, requires_grad=True),)


class Entropy(Function):
    @staticmethod
    def forward(ctx: Any, p: Any) -> Any:
        ctx.save_for_backward(p)
        return where(p > 0, -p * log(where(p > 0, p, 1.0)), 0.0).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        (p,) = ctx.saved_tensors
        logs = log(p)
        return -g * (p / (p + 1e-300) + p * logs * (1 / (p + 1e-300)))

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor([0.4, 0.0, 0.6], dtype=float64, requires_grad=True),)


class Sigmoid(Function):
    @staticmethod
    def slope(x: Any) -> Any:
        grown = exp(-x)
        return grown / (1 + grown) ** 2

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.sigmoid()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * Sigmoid.slope(x)

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor([0.4, -800.0], dtype=float64, requires_grad=True),)


@pytest.mark.parametrize(
    ("function", "line", "hint"),
    [
        (Norm, "unit = x / norm", "`x / norm` (line LINE) is NaN: keep divisors away from zero"),
        (
            Entropy,
            "return -g * (p",
            "`p * logs` (line LINE) is NaN, as `log(p)` is infinite: keep arguments of log away "
            "from zero",
        ),
        (
            Sigmoid,
            "return grown",
            "`grown / (1 + grown) ** 2` (line LINE) is NaN, as `exp(-x)` is infinite: keep "
            "exponents from overflowing",
        ),
    ],
)
def test_the_expression_is_named(function: Any, line: str, hint: str) -> None:
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    number = next(at for at, text in enumerate(source, 1) if line in text)
    (finding,) = [each for each in check(function).findings() if each.rule == "GT114"]
    assert finding.location.line == number
    assert finding.hint == hint.replace("LINE", str(number))
