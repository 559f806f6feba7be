"""What is asked of a Function when all its cases are done."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool.results.report import Finding, Severity, Skip, SkipKind, Verdict
from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options

BRANCHES = """\
from gradtool import Function


class Power(Function):
    @staticmethod
    def forward(ctx, x, exponent=2):
        if exponent == 0:
            raise ValueError("no exponent")
        ctx.save_for_backward(x)
        ctx.exponent = exponent
        return x**exponent

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        if ctx.exponent == 3:
            square = x * x
            return 3 * square * grad_output, None
        return 2 * x * grad_output, None
"""
KEPT = """\
from gradtool import Function


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * ctx.x * grad_output
"""


def config(function: str, text: str) -> str:
    return f"version: 1\nfunctions:\n  {function}:\n    {text}\n"


def found(*, rules: tuple[str, ...] = (), **options: Any) -> list[Finding]:
    return list(check(check_options(paths=("ops.py",), select=rules, **options)).findings())


CASES = "cases: [{{args: [{{shape: [3]}}, 2]{0}}}, {{args: [{{shape: [3]}}, {1}]{2}}}]"


def test_a_branch_that_no_case_takes_is_noted(write: Write) -> None:
    write({"ops.py": BRANCHES, "gradtool.yaml": config("Power", CASES.format("", 2, ""))})
    (note,) = found()
    assert note.rule == "GT604"
    assert note.severity is Severity.NOTE
    assert note.message == "no case executes lines 17-18 of backward"
    assert note.location.line == 17
    assert note.node_id == "ops.py::Power::GT604"
    assert check(check_options(paths=("ops.py",))).verdict is Verdict.PASS


def test_lines_of_two_methods_are_noted_in_the_order_of_the_source(write: Write) -> None:
    branch = "        if exponent == 3:\n            x = x * 1\n"
    module = BRANCHES.replace("        ctx.save", f"{branch}        ctx.save", 1)
    write({"ops.py": module, "gradtool.yaml": config("Power", CASES.format("", 2, ""))})
    first, second = found()
    assert "of forward" in first.message
    assert "of backward" in second.message


def test_cases_execute_lines_together(write: Write) -> None:
    write({"ops.py": BRANCHES, "gradtool.yaml": config("Power", CASES.format("", 3, ""))})
    assert found() == []


def test_lines_can_be_asked_for_alone(write: Write) -> None:
    write({"ops.py": BRANCHES, "gradtool.yaml": config("Power", CASES.format("", 2, ""))})
    assert [finding.rule for finding in found(rules=("GT604",))] == ["GT604"]


def test_lines_are_not_told_of_what_is_wrong(write: Write) -> None:
    wrong = BRANCHES.replace("return 2 * x", "return 5 * x")
    write({"ops.py": wrong, "gradtool.yaml": config("Power", CASES.format("", 2, ""))})
    assert [finding.rule for finding in found()] == ["GT101", "GT101"]


@pytest.mark.parametrize(
    ("ignored", "rules"), [("GT505", []), ("GT5", []), ("GT103", ["GT505", "GT511"])]
)
def test_an_ignored_rule_must_be_broken(write: Write, ignored: str, rules: list[str]) -> None:
    write({"ops.py": KEPT, "gradtool.yaml": config("Square", f"ignore: {{{ignored}: known}}")})
    assert sorted(finding.rule for finding in found()) == rules


def test_an_ignored_rule_stays_skipped_with_its_reason(write: Write) -> None:
    write({"ops.py": KEPT, "gradtool.yaml": config("Square", "ignore: {GT505: known}")})
    report = check(check_options(paths=("ops.py",)))
    (answer,) = [each for each in report.checks() if each.rule == "GT505"]
    assert answer.verdict is Verdict.SKIPPED
    assert answer.skip == Skip(kind=SkipKind.IGNORED, detail="known")


def test_a_loose_tolerance_of_one_case_is_told_of_that_case(write: Write) -> None:
    cases = CASES.format("", 3, ", atol: 0.01")
    write({"ops.py": BRANCHES, "gradtool.yaml": config("Power", cases)})
    (finding,) = found()
    assert finding.rule == "GT511"
    assert finding.node_id.startswith("ops.py::Power[")


def test_a_loose_tolerance_of_all_cases_is_told_once(write: Write) -> None:
    text = CASES.format("", 3, "") + "\n    atol: 0.01"
    write({"ops.py": BRANCHES, "gradtool.yaml": config("Power", text)})
    assert [finding.rule for finding in found()] == ["GT511"]


def test_a_tolerance_of_the_whole_run_is_not_asked_about(write: Write) -> None:
    text = config("Power", CASES.format("", 3, "")) + "check: {atol: 0.01}\n"
    write({"ops.py": BRANCHES, "gradtool.yaml": text})
    assert found() == []
    assert found(atol=0.1) == []
