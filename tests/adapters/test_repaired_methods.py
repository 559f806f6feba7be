"""Edits of methods: one that never ends is given up, and all that can be shared is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradtool import Function
from gradtool.adapters.common.alterations import altered_code
from gradtool.adapters.common.alterations.backward.repaired_method import RepairedMethod
from gradtool.adapters.engines import BUNDLED, computing_with
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


class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        return x + x

    @staticmethod
    def jvp(ctx, tangent):
        return 3 * tangent


def test_an_edit_that_never_ends_costs_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(MODULE)
    options = check_options(paths=("ops.py",), explore="off", isolation=False, timeout=30)
    ((_, function),) = check(options).functions()
    found = {each.rule for case in function.cases for e in case.checks for each in e.findings}
    assert found == {"GT101"}


def test_forward_is_compiled_once_for_edits_that_are_tried_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_forward: list[str] = []
    compile_tree = altered_code._compiled

    def counted(tree: Any, before: Any) -> Any:
        of_forward.extend([tree.name] if tree.name == "forward" else [])
        return compile_tree(tree, before)

    monkeypatch.setattr(altered_code, "_compiled", counted)
    with computing_with(BUNDLED):
        method = RepairedMethod(Doubled, "jvp")
        for edit in method.repairs(5):
            assert list(method.returned([edit], lambda: None, lambda _: ())) == [()]
    assert of_forward == ["forward"]
