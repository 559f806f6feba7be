"""Where nothing is said of a third derivative, the reason says whose fault that is."""

from __future__ import annotations

import re
from pathlib import Path

from gradtool.results.report import CheckResult, Verdict
from gradtool.run.runner import check
from tests.options import check_options

MODULE = """
import torch
from torch.autograd import Function


class Ramp(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * (x > 0)) ** {power}

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * {power} * (x > 0) * (x * (x > 0)) ** ({power} - 1)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([-1.5, 0.75, 2.0], dtype=torch.double, requires_grad=True),)
"""


def third(power: float, tmp_path: Path, module: str = MODULE) -> CheckResult:
    (tmp_path / "ramp.py").write_text(module.format(power=power), encoding="utf-8")
    report = check(check_options(paths=(str(tmp_path / "ramp.py"),), strict=True))
    assert not list(report.findings())
    checks = (
        check
        for module in report.modules
        for function in module.functions
        for case in function.cases
        for check in case.checks
    )
    return next(check for check in checks if check.rule == "GT204")


def test_a_third_derivative_that_is_not_a_number_is_told_from_one_that_is_right(
    tmp_path: Path,
) -> None:
    """To the left autograd has zero times the infinite slope of a root."""
    nan = third(2.5, tmp_path)
    assert nan.verdict is Verdict.SKIPPED
    assert nan.skip.detail == "the third derivative that autograd computes is not a number"
    assert third(4.0, tmp_path).verdict is Verdict.PASS


def test_a_case_with_too_many_entries_proves_nothing_about_it(tmp_path: Path) -> None:
    entries = "torch.linspace(0.5, 2.0, 30, dtype=torch.double, requires_grad=True)"
    large = re.sub(r"torch\.tensor\(.*?\)", entries, MODULE)
    skipped = third(4.0, tmp_path, large)
    assert skipped.verdict is Verdict.SKIPPED
    assert skipped.skip.detail == "too many entries"


TWO_STAGES = """
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Slope(Function):
    @staticmethod
    def forward(ctx, x, grad):
        ctx.save_for_backward(x, grad)
        return 4 * x**3 * grad

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, grad = ctx.saved_tensors
        return 12 * x**2 * grad * grad_output, 4 * x**3 * grad_output

    @staticmethod
    def sample_inputs():
        yield tuple(torch.rand(3, dtype=torch.double, requires_grad=True) for _ in range(2))


class FourthPower(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**4

    @staticmethod
    def backward(ctx, grad_output):
        return Slope.apply(*ctx.saved_tensors, grad_output)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([-1.5, 0.75, 2.0], dtype=torch.double, requires_grad=True),)
"""


def test_a_second_stage_that_declares_itself_once_differentiable_has_no_third_derivative(
    tmp_path: Path,
) -> None:
    path = tmp_path / "stages.py"
    path.write_text(TWO_STAGES, encoding="utf-8")
    report = check(check_options(paths=(str(path),), strict=True))
    assert not list(report.findings())
    path.write_text(TWO_STAGES.replace("    @once_differentiable\n", ""), encoding="utf-8")
    assert not list(check(check_options(paths=(str(path),), strict=True)).findings())
