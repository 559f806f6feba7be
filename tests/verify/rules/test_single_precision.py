"""A backward in single precision is reported, also where that makes a gradient seem wrong."""

from __future__ import annotations

from typing import Any

import gradtool.engine as torch
from gradtool.engine.autograd import Function
from gradtool.results.report import Report, SkipKind, Verdict
from gradtool.testing import check


class Energy(Function):
    """x / sqrt(mean(x**2) + eps) * w, whose gradient has terms that cancel."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any, eps: float) -> Any:
        ctx.save_for_backward(x, w)
        ctx.eps = eps
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, w = ctx.saved_tensors
        single, sent = x.float(), (g * w).float()
        r = torch.rsqrt(single.pow(2).mean(-1, keepdim=True) + ctx.eps)
        gx = r * sent - r.pow(3) * single * (sent * single).mean(-1, keepdim=True)
        gw = (g * x * r.to(x.dtype)).reshape(-1, x.shape[-1]).sum(0)
        return gx.to(x.dtype), gw, None


def checked(function: type[Function]) -> Report:
    torch.manual_seed(37)
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    w = torch.randn(4, dtype=torch.float64, requires_grad=True)
    return check(function, [(x, w, 1e-6)])


def test_it_is_reported_in_place_of_the_entries_that_it_makes_wrong() -> None:
    report = checked(Energy)
    assert {finding.rule for finding in report.findings()} == {"GT601"}
    assert report.verdict is Verdict.FAIL
    skips = {each.rule: each.skip for each in report.checks() if each.skip}
    blocked = skips["GT101"]
    assert (blocked.kind, blocked.blocked_by) == (SkipKind.BLOCKED, "GT601")


def test_no_rule_waits_for_itself() -> None:
    blocked = [
        each
        for each in checked(Energy).checks()
        if each.skip and each.skip.kind is SkipKind.BLOCKED
    ]
    assert blocked
    assert [each.rule for each in blocked if each.skip and each.skip.blocked_by == each.rule] == []


class Spike(Function):
    """Step of float32 with a surrogate gradient in the dtype of the potential."""

    @staticmethod
    def forward(ctx: Any, v: Any) -> Any:
        ctx.save_for_backward(v)
        return (v >= 0.75).float()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (v,) = ctx.saved_tensors
        return g / (1 + (v - 0.75) ** 2)


def test_a_cotangent_of_single_precision_is_not_backwards_doing() -> None:
    torch.manual_seed(1)  # The rounding of the cotangent shows only for some numbers.
    v = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    report = check(Spike, [(v,)])
    assert {finding.rule for finding in report.findings()} == {"GT120"}
