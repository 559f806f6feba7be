"""The branches that cases and exploring cover, and the variants that take the others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool.explore.observed import recorded_gradients
from gradtool.report.terminal.report import plain
from gradtool.results.report import Coverage, Report
from gradtool.run.runner import check
from tests.adapters.case_functions import at, leaf
from tests.options import check_options

HEAD = """
import torch
from torch.autograd import Function


class Op(Function):
"""

SAMPLE = """
    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.5, -0.3, 1.2], dtype=torch.double),)
"""

FAR = """
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x * x > 2 * 50.0 * 50.0, x * 2, x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * {slope}
"""
RIGHT_SLOPE = "torch.where(x * x > 2 * 50.0 * 50.0, 2.0, 1.0)"

BY_NUMBER = """
    @staticmethod
    def forward(ctx, x, order=2):
        ctx.save_for_backward(x)
        ctx.order = order
        return x**3 if order > 7 else x**2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        if ctx.order > 7:
            return grad_output * {slope}, None
        return grad_output * 2 * x, None
"""

GUARDED = """
    @staticmethod
    def forward(ctx, x, order=2):
        if order > 7:
            raise ValueError("order is at most 7")
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x, None
"""

UNREACHABLE = """
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        if x.ndim > 9:
            return grad_output * 3
        return grad_output * 2 * x if ctx.needs_input_grad[0] else None
"""


ENTROPY = """
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 0, x * torch.log(x.clamp_min(1e-300)), {below})

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (torch.log({operand}) + 1)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor([0.5, 0.3, 1.2], dtype=torch.double),)
"""


def explored(folder: Path, methods: str, explore: str = "quick", sample: str = SAMPLE) -> Report:
    path = folder / "ops.py"
    path.write_text(HEAD.lstrip() + methods.lstrip("\n") + sample, encoding="utf-8")
    select = ("GT101", "GT114", "GT604")
    return check(check_options(paths=(str(path),), explore=explore, select=select))


def coverage(report: Report) -> Coverage | None:
    ((_, function),) = report.functions()
    return function.coverage


@pytest.mark.parametrize(
    "methods",
    [
        FAR.format(slope="1.0"),
        BY_NUMBER.format(slope="2 * x**2"),
    ],
    ids=["values", "number"],
)
def test_a_mistake_behind_a_branch_that_no_sample_takes_is_found(
    tmp_path: Path, methods: str
) -> None:
    found = [each for each in explored(tmp_path, methods).findings() if each.rule == "GT101"]
    assert found
    assert "otherwise the same as case" in found[0].message


@pytest.mark.parametrize(
    ("methods", "covered", "branches"),
    [
        # The comparison in forward, and the one in backward.
        (FAR.format(slope=RIGHT_SLOPE), 4, 4),
        (BY_NUMBER.format(slope="3 * x**2"), 4, 4),
        (UNREACHABLE, 2, 4),
    ],
    ids=["values", "number", "unreachable"],
)
def test_a_right_function_is_not_blamed_and_its_branches_are_counted(
    tmp_path: Path, methods: str, covered: int, branches: int
) -> None:
    report = explored(tmp_path, methods)
    assert not [each for each in report.findings() if each.rule == "GT101"]
    found = coverage(report)
    assert found is not None
    assert (found.covered, found.branches) == (covered, branches)
    assert len(found.missing) == branches - covered


def test_a_test_that_only_refuses_is_no_branch(tmp_path: Path) -> None:
    report = explored(tmp_path, GUARDED)
    assert coverage(report) is None
    assert list(report.findings()) == []


def test_what_nothing_took_is_named(tmp_path: Path) -> None:
    report = explored(tmp_path, UNREACHABLE)
    found = coverage(report)
    assert found is not None
    assert found.percent == 50
    assert found.missing == (
        "line 14 of backward: `x.ndim > 9` is never true",
        "line 16 of backward: `ctx.needs_input_grad[0]` is never false",
    )
    (note,) = report.findings()
    assert note.message == (
        "no case executes line 15 of backward; exploration took 2 of 4 branches"
    )
    text = plain(report, verbosity=1)
    assert "branches: 2 of 4 covered (50%)" in text
    assert found.missing[0] in text
    assert "branches:" not in plain(report)


def test_lines_that_only_exploration_executes_are_noted_as_such(tmp_path: Path) -> None:
    report = explored(tmp_path, BY_NUMBER.format(slope="3 * x**2"))
    told = {each.message for each in report.findings()}
    assert told
    assert all(text.startswith("only exploration executes line ") for text in told)


def test_nothing_is_counted_where_nothing_is_explored(tmp_path: Path) -> None:
    report = explored(tmp_path, UNREACHABLE, explore="off")
    assert coverage(report) is None
    (note,) = report.findings()
    assert note.message == "no case executes line 15 of backward"


def test_a_gradient_that_is_no_number_outside_the_domain_is_no_mistake(tmp_path: Path) -> None:
    methods = ENTROPY.format(below="torch.zeros_like(x)", operand="x")
    report = explored(tmp_path, methods, sample="")
    assert list(report.findings()) == []


def test_a_wrong_gradient_on_the_side_of_a_sign_that_no_sample_has_is_found(
    tmp_path: Path,
) -> None:
    methods = ENTROPY.format(below="-x", operand="x.abs()")
    (found,) = explored(tmp_path, methods, sample="").findings()
    assert found.rule == "GT101"
    assert "otherwise the same as case" in found.message


def test_a_forward_that_is_recorded_after_it_ran_is_not_traced() -> None:
    tracers = []

    def noted(x: Any) -> Any:
        tracers.append(sys.gettrace())
        return x * 2

    def tracer(*_: object) -> None:
        return None

    function, before = at(noted, leaf(1.0, 2.0)), sys.gettrace()
    sys.settrace(tracer)
    try:
        function.evaluate(function.primals)
        assert recorded_gradients(function, [np.ones(2)]) is not None
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
    assert tracers == [tracer, None]
