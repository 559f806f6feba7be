"""A documented straight-through estimator is checked beside its cases as what it is at them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.results.report import Severity
from gradtool.run.runner import check
from tests.options import check_options

QUANTIZER = '''
"""A quantizer with a straight-through estimator, which learns the size of its steps."""
import torch


class Quantizer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, step, low=-4, high=3):
        v = x / step
        ctx.save_for_backward(v)
        ctx.bounds = low, high
        return {forward} * step

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        (v,) = ctx.saved_tensors
        low, high = ctx.bounds
        inside = (v >= low) & (v <= high)
        of_step = torch.where(inside, v.round() - v, {outside})
        return g * inside, (g * of_step).sum(), None, None

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.31, -0.44, 1.9, -0.13, 0.05], dtype=torch.double, requires_grad=True)
        yield x, torch.tensor(0.2, dtype=torch.double, requires_grad=True)
'''
RIGHT = "v.clamp(low, high)"
FORWARDS = ["v.clamp(low, high).round()", "v.round().clamp(low, high)"]


def _errors(folder: Path, code: str) -> list[str]:
    (folder / "ops.py").write_text(code)
    report = check(check_options(paths=(str(folder / "ops.py"),), explore="quick"))
    return [each.message for each in report.findings() if each.severity is Severity.ERROR]


@pytest.mark.parametrize("forward", FORWARDS)
@pytest.mark.parametrize("inside", ["(v >= low) & (v <= high)", "(v > low) & (v < high)"])
def test_a_right_quantizer_passes(tmp_path: Path, forward: str, inside: str) -> None:
    code = QUANTIZER.replace("(v >= low) & (v <= high)", inside)
    assert _errors(tmp_path, code.format(forward=forward, outside=RIGHT)) == []


def test_a_number_that_forward_ignores_may_scale_the_gradient(tmp_path: Path) -> None:
    code = QUANTIZER.replace("high=3)", "high=3, gain=1.0)")
    code = code.replace("ctx.bounds = low, high\n", "ctx.bounds, ctx.gain = (low, high), gain\n")
    code = code.replace(
        "(g * of_step).sum(), None, None", "ctx.gain * (g * of_step).sum(), *3 * [None]"
    )
    assert _errors(tmp_path, code.format(forward=FORWARDS[0], outside=RIGHT)) == []


@pytest.mark.parametrize("forward", FORWARDS)
@pytest.mark.parametrize("outside", ["torch.full_like(v, high)", "torch.minimum(v, 0 * v + high)"])
def test_what_is_wrong_below_the_range_is_found(tmp_path: Path, forward: str, outside: str) -> None:
    (message,) = _errors(tmp_path, QUANTIZER.format(forward=forward, outside=outside))
    assert message.startswith("gradient of `step` differs")
    assert "found by exploration" in message


def test_a_range_that_no_case_reaches_is_found(tmp_path: Path) -> None:
    code = QUANTIZER.replace("0.31, -0.44, 1.9, -0.13, 0.05", "0.31, -0.44, 0.19, -0.13, 0.05")
    assert _errors(tmp_path, code.format(forward=FORWARDS[1], outside=RIGHT)) == []
    (message,) = _errors(tmp_path, code.format(forward=FORWARDS[1], outside="0 * v"))
    assert message.startswith("gradient of `step` differs")


def test_what_is_no_derivative_through_rounding_at_its_case_is_left_alone(tmp_path: Path) -> None:
    slower = QUANTIZER.replace("(g * of_step)", "0.1 * (g * of_step)")
    assert _errors(tmp_path, slower.format(forward=FORWARDS[0], outside=RIGHT)) == []


FIXED = '''
"""A quantizer with a straight-through estimator: zero where it saturates."""
import torch


class Fake(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, signed=True):
        low, high = (-4, 3) if signed else (0, 7)
        ctx.save_for_backward((x / scale).round())
        ctx.signed = signed
        return (x / scale).round().clamp(low, high) * scale

    @staticmethod
    def backward(ctx, g):
        (q,) = ctx.saved_tensors
        low, high = {bounds}
        return g * ((q >= low) & (q <= high)), None, None

    @staticmethod
    def sample_inputs():
        x = torch.tensor([0.31, -0.44, 1.9, -1.3, 0.05], dtype=torch.double, requires_grad=True)
        yield x, 0.2
'''


def test_a_mask_of_another_range_is_found(tmp_path: Path) -> None:
    assert _errors(tmp_path, FIXED.format(bounds="(-4, 3) if ctx.signed else (0, 7)")) == []
    (message,) = _errors(tmp_path, FIXED.format(bounds="(-4, 3)"))
    assert message.startswith("gradient of `x`")


def test_what_passes_everywhere_is_left_alone(tmp_path: Path) -> None:
    code = FIXED.format(bounds="(-4, 3)").replace("g * ((q >= low) & (q <= high))", "g.clone()")
    assert _errors(tmp_path, code.replace("1.9, -1.3", "0.5, -0.1")) == []


ONE_END = """
import torch


class Phases(torch.autograd.Function):
    '''Rounds to steps between low and high, straight through; zero gradient outside.'''

    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x)
        ctx.ends = low, high
        step = (high - low) / 7
        return low + step * ((x.clamp(low, high) - low) / step).round()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        low, high = ctx.ends
        return g * ({inside}), None, None

    @staticmethod
    def sample_inputs():
        yield torch.tensor([0.4, 1.3, 2.2, 0.9], dtype=torch.double, requires_grad=True), 0.0, 3.0
"""


def test_a_mask_of_one_end_only_is_found(tmp_path: Path) -> None:
    assert _errors(tmp_path, ONE_END.format(inside="(x >= low) & (x <= high)")) == []
    (message,) = _errors(tmp_path, ONE_END.format(inside="x <= high"))
    assert message.startswith("gradient of `x` is not the derivative through rounding")
