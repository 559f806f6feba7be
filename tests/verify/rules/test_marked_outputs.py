"""GT115 tells by-products that backward needs from outputs that are meant for a loss."""

from typing import Any

import pytest

from gradtool.engine import float64, randn
from gradtool.engine.autograd import Function
from gradtool.engine.autograd.function import once_differentiable
from gradtool.results.report import Severity
from gradtool.testing import check


class Scaled(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        scale = (x.square().mean() + 1).rsqrt()
        y = x * scale
        ctx.save_for_backward(y, scale)
        ctx.mark_non_differentiable(scale)
        return y, scale

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any, _: Any) -> Any:
        y, scale = ctx.saved_tensors
        return scale * (g - y * (g * y).mean())

    @staticmethod
    def sample_inputs() -> Any:
        yield (randn(4, dtype=float64, requires_grad=True),)


class Promised(Scaled):
    """Both outputs are differentiable."""


class ForALoss(Scaled):
    """The scale feeds a penalty."""


class ForATermOfALoss(Scaled):
    """The scale is meant for the usual s-loss: loss + 0.1 * scale**2."""


class SavesAnother(Scaled):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        scale = (x.square().mean() + 1).rsqrt()
        y = x * scale
        ctx.save_for_backward(y, scale.clone())
        ctx.mark_non_differentiable(scale)
        return y, scale


@pytest.mark.parametrize(
    ("function", "severity"),
    [
        (Scaled, Severity.NOTE),
        (Promised, Severity.ERROR),
        (ForALoss, Severity.ERROR),
        (ForATermOfALoss, Severity.ERROR),
        (SavesAnother, Severity.ERROR),
    ],
)
def test_an_output_that_is_marked(function: Any, severity: Severity) -> None:
    (finding,) = [each for each in check(function).findings() if each.rule == "GT115"]
    assert finding.severity is severity
