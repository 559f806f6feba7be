"""Exploring copes with tensors of any shape: scalars, single entries, empty ones, many axes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.run.runner import check
from tests.options import check_options

MODULE = """
import torch
from torch.autograd import Function


class Clip(Function):
    @staticmethod
    def forward(ctx, x, low, high, scale):
        ctx.save_for_backward(x, low, high)
        ctx.scale = scale
        return scale * torch.minimum(torch.maximum(x, low), high)

    @staticmethod
    def backward(ctx, grad_output):
        x, low, high = ctx.saved_tensors
        grad_output = grad_output * ctx.scale
        above = torch.maximum(x, low) > high
        below = (x < low) & ~above
        return (
            (grad_output * ~(below | above)).sum_to_size(x.shape),
            (grad_output * below).sum_to_size(low.shape),
            (grad_output * above).sum_to_size(high.shape),
            None,
        )

    @staticmethod
    def sample_inputs():
        x = torch.randn({x}, dtype=torch.double, requires_grad=True)
        low = torch.full({bound}, -0.5, dtype=torch.double, requires_grad=True)
        high = torch.full({bound}, 0.75, dtype=torch.double, requires_grad=True)
        yield x, low, high, 1.0
"""


@pytest.mark.parametrize("bound", [(), (1,), (1, 1)])
@pytest.mark.parametrize("x", [(), (1,), (0,), (5,), (1, 1), (3, 0), (2, 3), (2, 1, 3, 2)])
def test_no_shape_is_too_odd_to_explore(
    x: tuple[int, ...], bound: tuple[int, ...], tmp_path: Path
) -> None:
    (tmp_path / "clip.py").write_text(MODULE.format(x=x, bound=bound), encoding="utf-8")
    options = check_options(paths=(str(tmp_path / "clip.py"),), explore="deep", isolation=False)
    report = check(options)
    assert not report.faults
    assert not [each for each in report.findings() if each.rule not in {"GT119", "GT116"}]


LABELLED = """
import torch
from torch.autograd import Function


class Picked(Function):
    @staticmethod
    def forward(ctx, x, target, valid):
        ctx.save_for_backward(x, target, valid)
        return torch.where(valid, x, 0.0).log_softmax(1).gather(1, target)

    @staticmethod
    def backward(ctx, grad_output):
        x, target, valid = ctx.saved_tensors
        x = torch.where(valid, x, 0.0)
        gradient = (-x.softmax(1) * grad_output).scatter_add(1, target, grad_output)
        return torch.where(valid, gradient, 0.0), None, None
"""


def test_one_inferred_label_for_each_row_remains_one(tmp_path: Path) -> None:
    (tmp_path / "picked.py").write_text(LABELLED, encoding="utf-8")
    options = check_options(paths=(str(tmp_path / "picked.py"),), explore="quick", isolation=False)
    assert not [each for each in check(options).findings() if each.rule != "GT604"]
