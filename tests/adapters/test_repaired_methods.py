"""An edit of a method that never ends says nothing, and is given up."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.run.runner import check
from tests.options import check_options

MODULE = """
import torch


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x / 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        left = 3
        while left > 0:
            left = left - 1
        return grad * x.sin()
"""


def test_an_edit_that_never_ends_costs_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(MODULE)
    options = check_options(paths=("ops.py",), explore="off", isolation=False, timeout=30)
    ((_, function),) = check(options).functions()
    found = {each.rule for case in function.cases for e in case.checks for each in e.findings}
    assert found == {"GT101"}
