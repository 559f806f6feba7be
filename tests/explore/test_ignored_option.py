"""Explanations of wrong gradients that exploration finds: an option that backward ignores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import gradtool.engine as torch
from gradtool.cases.sources import resolve_cases
from gradtool.collect.discovery import checkable_of
from gradtool.config.settings import Settings
from gradtool.explore.explorer import Discovered, confirmed
from gradtool.explore.findings import results
from gradtool.explore.ignored_option import is_computed_by_caller
from gradtool.explore.point import Point, Variant
from gradtool.explore.variants.plain import with_defaults
from gradtool.run.runner import check
from tests.options import check_options

TABLE = """
import torch

class PhaseTable(torch.autograd.Function):
    tables = {}

    @staticmethod
    def forward(ctx, x, offset=0):
        ctx.table = torch.cos((torch.arange(x.shape[-1], dtype=x.dtype) + offset) * 0.7)
        PhaseTable.tables.setdefault(len(ctx.table), ctx.table)
        return x * ctx.table

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * BACKWARD, None

    @staticmethod
    def sample_inputs():
        return torch.rand(2, 4, dtype=torch.float64).requires_grad_()
"""


@pytest.mark.parametrize(
    ("backward", "is_ignored"),
    [
        ("PhaseTable.tables[len(ctx.table)]", True),
        ("ctx.table * (1 if ctx.table[0] == 1 else 1.5)", False),
    ],
)
def test_it_is_named_if_the_gradient_is_right_for_the_value_of_the_case(
    tmp_path: Path, backward: str, is_ignored: bool
) -> None:
    module = tmp_path / "table.py"
    module.write_text(TABLE.replace("BACKWARD", backward), encoding="utf-8")
    options = check_options(paths=(f"{module}",), select=("GT101",), explore="quick")
    hints = [each.hint or "" for each in check(options).findings()]
    assert hints
    is_named = hints == ["backward ignores `offset`: it returns the derivative for 0"]
    assert is_named == is_ignored


BUILT_IN = """
import torch

class Ramp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, kind, limit):
        if kind != "unit":
            raise ValueError(kind)
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.clamp(-1.0, 1.0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() < ctx.limit), None, None

def ramp(x):
    return Ramp.apply(x, "unit", LIMIT)
"""


@pytest.mark.parametrize(("limit", "is_wrong"), [("1.0", False), ("0.5", True)])
def test_an_option_that_forward_has_built_in_keeps_the_value_of_the_calls(
    tmp_path: Path, limit: str, is_wrong: bool
) -> None:
    (tmp_path / "ramp.py").write_text(BUILT_IN.replace("LIMIT", limit))
    report = check(check_options(paths=(str(tmp_path / "ramp.py"),)))
    assert any(each.rule == "GT101" for each in report.findings()) is is_wrong


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, factor: float = 2.0, power: int = 1) -> Any:
        return factor * x**power

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output, None, None

    @staticmethod
    def sample_inputs() -> Any:
        return torch.rand(3, dtype=torch.float64).requires_grad_()


def test_options_that_differ_from_the_case_are_all_named() -> None:
    checkable = checkable_of(Scaled)
    (case,) = resolve_cases(checkable, Settings())
    at = with_defaults(Point.of(checkable, case, "cpu"), checkable.parameters())
    variant = Variant(at.having({1: 3.0, 2: 2}), "`power` is 2, not 1")
    outcomes = confirmed(checkable, case, variant, ["GT101"])
    found = [Discovered(case, variant, outcome) for outcome in outcomes]
    (result,) = results("f.py::Scaled", checkable, found, Settings())
    said = "where `power` is 2, not 1 and `factor` is 3.0 (otherwise the same as case 'sample1')"
    assert result.findings[0].message.endswith(said)


@pytest.mark.parametrize(
    ("evidence", "is_kept"), [("a call to f", True), ("the call at line 3", False), (None, False)]
)
def test_numbers_that_a_caller_computed_are_not_changed(
    evidence: str | None, is_kept: bool
) -> None:
    checkable = checkable_of(Scaled)
    (case,) = resolve_cases(checkable, Settings())
    at = with_defaults(Point.of(checkable, case, "cpu"), checkable.parameters())
    case = structs.replace(case, inferred_from=evidence)
    assert is_computed_by_caller(case, at, at.having({2: 2})) is is_kept
    assert not is_computed_by_caller(case, at, at)
