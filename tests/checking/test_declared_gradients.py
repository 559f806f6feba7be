"""Of a gradient that is declared to be no derivative, no doubt is left about the derivative."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.results.report import Verdict
from gradtool.run.runner import check
from tests.options import check_options

MODULE = """
import torch
from torch.autograd import Function


class Quantize(Function):{comment}
    @staticmethod
    def forward(ctx, x, scale=0.1):
        q = torch.round(x / scale)
        ctx.save_for_backward((q >= -8) & (q <= 7))
        return q.clamp(-8, 7) * scale

    @staticmethod
    def backward(ctx, grad_output):
        (inside,) = ctx.saved_tensors
        return grad_output * inside, None

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.33, -0.21, 1.7, -2.4], dtype=torch.double, requires_grad=True),)
"""
COMMENT = "  # gradtool: ignore[GT101] straight through"
CONFIGURATION = """
version: 1
functions:
  Quantize: {ignore: {GT101: straight through}}
"""


@pytest.mark.parametrize(
    ("comment", "configuration", "verdict", "rules"),
    [
        ("", "version: 1", Verdict.FAIL, ["GT120"]),
        (COMMENT, "version: 1", Verdict.PASS, []),
        ("", CONFIGURATION, Verdict.PASS, []),
    ],
)
def test_who_declares_another_gradient_need_not_ignore_doubts_too(
    comment: str,
    configuration: str,
    verdict: Verdict,
    rules: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quantize.py").write_text(MODULE.format(comment=comment), encoding="utf-8")
    Path("gradtool.yaml").write_text(configuration, encoding="utf-8")
    report = check(check_options(paths=("quantize.py",), strict=True))
    assert [finding.rule for finding in report.findings()] == rules
    assert report.verdict is verdict


REVERSAL = """
import torch
from torch.autograd import Function


class Reversal(Function):
    @staticmethod
    def forward(ctx, x, scale, bias):
        ctx.save_for_backward(scale, bias)
        return x * scale + bias

    @staticmethod
    def backward(ctx, grad_output):
        scale, bias = ctx.saved_tensors
        return -grad_output * scale, None, {bias}

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.3, -0.2, 1.7], [0.4, 0.1, -2.4]], dtype=torch.double)
        scale = torch.tensor(2.0, dtype=torch.double)
        bias = torch.tensor([[0.5, -0.1, 0.2], [1.5, 1.2, 0.7]], dtype=torch.double)
        yield x.requires_grad_(), scale, bias.requires_grad_()
"""


@pytest.mark.parametrize(
    ("bias", "rules"),
    [("grad_output", []), ("grad_output * (bias > -1)", ["GT101"])],
)
def test_beside_the_cases_a_declared_surrogate_is_none_either(
    bias: str, rules: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reversal.py").write_text(REVERSAL.format(bias=bias), encoding="utf-8")
    declared = "version: 1\nfunctions:\n  Reversal: {surrogate: [x], reason: adversarial}\n"
    Path("gradtool.yaml").write_text(declared, encoding="utf-8")
    report = check(check_options(paths=("reversal.py",), strict=True, explore="quick"))
    found = [finding.rule for finding in report.findings()]
    assert found == rules
