"""Tests of the calls that have to come before a Function, which inference makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.results.report import Report
from gradtool.run.runner import check
from tests.options import check_options

FUNCTION = """
import torch

_PLANS = {}
_CALLS = []

%s

class Planned(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, order: int):
        if (x.shape[-1], order) not in _PLANS:
            raise RuntimeError("%s")
        ctx.factor = _PLANS[x.shape[-1], order]
        return x * ctx.factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None
"""

PLAIN = """
def make_plan(width: int, order: int):
    _PLANS[width, order] = 0.5 * order
"""

FLAGGED = """
def prepare_tables(order: int):
    raise ValueError("not this one")

def prepare_planned(width: int, order: int, level: int, dense=False, use_disk=False):
    assert not use_disk
    if dense and level == 7 - 4:
        _PLANS[width, order] = 0.5 * order

def solve(x):
    return Planned.apply(x, 2), dict(dense=True)
"""


def _checked(tmp_path: Path, code: str, message: str) -> Report:
    file = tmp_path / "planned.py"
    file.write_text(FUNCTION % (code, message))
    return check(check_options(paths=(str(file),), explore="off"))


def _arguments(report: Report) -> str:
    return " ".join(report.modules[0].functions[0].cases[0].arguments)


@pytest.mark.parametrize(
    ("code", "message", "call"),
    [
        (PLAIN, "no plan: call make_plan first", "make_plan(order="),
        (FLAGGED, "no plan was prepared (level=03)", "prepare_planned(order="),
        (FLAGGED, "call the preparation function first", "dense=True"),
    ],
)
def test_what_a_message_asks_to_call_first_is_called(
    tmp_path: Path, code: str, message: str, call: str
) -> None:
    report = _checked(tmp_path, code, message)
    assert report.verdict.value == "pass", report.findings()
    assert "called before: " in _arguments(report)
    assert call in _arguments(report)


def test_no_function_is_called_that_needs_what_nothing_gives(tmp_path: Path) -> None:
    code = "def make_plan(path):\n    raise SystemExit(path)\n"
    report = _checked(tmp_path, code, "no plan: call make_plan first")
    assert [finding.rule for finding in report.findings()] == ["GT002"]
