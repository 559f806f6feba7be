"""A shortcut for undefined cotangents must not cut what double backward needs."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gradtool.run.runner import check
from tests.options import check_options

MODULE = """
import torch
from gradtool import Function
from torch.autograd.function import once_differentiable


class Pair(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.sin(), x.exp()

    @staticmethod{declared}
    def backward(ctx, grad_sin, grad_exp):
        (x,) = ctx.saved_tensors
        grad = None
        if grad_sin is not None:
            grad = grad_sin * x.cos()
        if grad_exp is not None:
            term = grad_exp * x.exp()
            grad = {alone} if grad is None else grad + term
        return grad
"""
ONCE = "\n    @once_differentiable"


@pytest.mark.parametrize(
    ("alone", "declared", "rules"),
    [
        ("term", "", []),
        ("term.detach()", "", ["GT108"]),
        ("term.detach()", ONCE, []),
    ],
)
def test_only_a_cut_that_double_backward_meets_is_found(
    alone: str, declared: str, rules: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pair.py").write_text(textwrap.dedent(MODULE).format(alone=alone, declared=declared))
    findings = list(check(check_options(paths=("pair.py",))).findings())
    assert [finding.rule for finding in findings] == rules
    assert all("in double backward when the cotangent of output 0" in f.message for f in findings)
