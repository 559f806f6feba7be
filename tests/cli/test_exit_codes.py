"""The exit code for every outcome of a run, and which one wins where several apply."""

import itertools

import pytest
from msgspec.structs import replace

from gradtool.cli.exit_codes import ExitCode, collected_code, exit_code
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Environment,
    Finding,
    FunctionResult,
    Location,
    ModuleResult,
    Report,
    Severity,
    Verdict,
)

HERE = Location(path="a.py", line=1)


def finding(rule: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(rule=rule, name="x", severity=severity, node_id=rule, message="x", location=HERE)


def check(rule: str, verdict: Verdict, *severities: Severity) -> CheckResult:
    found = tuple(finding(rule, severity) for severity in severities)
    return CheckResult(rule=rule, verdict=verdict, findings=found)


def function(*checks: CheckResult) -> ModuleResult:
    case = CaseResult(name="c", checks=checks)
    return ModuleResult(
        path="a.py", functions=(FunctionResult(name="F", location=HERE, cases=(case,)),)
    )


def report(*modules: ModuleResult, interrupted: bool = False) -> Report:
    return Report(
        environment=Environment(gradtool="1", python="3", numpy="2", platform="linux"),
        modules=modules,
        interrupted=interrupted,
    )


PASSED = function(check("GT101", Verdict.PASS))
SKIPPED = function(check("GT101", Verdict.SKIPPED), check("GT003", Verdict.PASS))
WRONG = function(check("GT101", Verdict.FAIL, Severity.ERROR))
UNVERIFIED = function(check("GT101", Verdict.UNVERIFIED))
WARNED = function(check("GT101", Verdict.PASS), check("GT506", Verdict.FAIL, Severity.WARNING))
NOTED = function(check("GT101", Verdict.PASS), check("GT602", Verdict.FAIL, Severity.NOTE))
BROKEN = ModuleResult(path="b.py", checks=(check("GT001", Verdict.ERROR, Severity.ERROR),))


@pytest.mark.parametrize(
    ("modules", "code"),
    [
        ([PASSED], ExitCode.PASSED),
        ([PASSED, SKIPPED], ExitCode.PASSED),
        ([PASSED, WRONG], ExitCode.FAILED),
        ([PASSED, UNVERIFIED], ExitCode.FAILED),
        ([PASSED, BROKEN], ExitCode.NOT_IMPORTED),
        ([SKIPPED], ExitCode.NOTHING_CHECKED),
        ([], ExitCode.NOTHING_CHECKED),
        ([BROKEN, WRONG], ExitCode.FAILED),
        ([BROKEN, SKIPPED], ExitCode.NOT_IMPORTED),
    ],
)
def test_the_outcome_decides(modules: list[ModuleResult], code: ExitCode) -> None:
    for order in itertools.permutations(modules):
        assert exit_code(report(*order), strict=False) is code


@pytest.mark.parametrize("number", range(2, 9))
@pytest.mark.parametrize("verdict", [Verdict.ERROR, Verdict.FAIL])
def test_a_function_that_does_not_run_is_a_wrong_function(number: int, verdict: Verdict) -> None:
    ran = function(check(f"GT00{number}", verdict, Severity.ERROR))
    assert exit_code(report(PASSED, ran), strict=False) is ExitCode.FAILED


def test_a_warning_fails_when_strict_only() -> None:
    assert exit_code(report(WARNED), strict=False) is ExitCode.PASSED
    assert exit_code(report(WARNED), strict=True) is ExitCode.FAILED


def test_a_note_never_fails() -> None:
    assert exit_code(report(NOTED), strict=True) is ExitCode.PASSED


def test_an_error_beside_a_warning_of_the_same_rule_fails() -> None:
    mixed = function(check("GT506", Verdict.FAIL, Severity.WARNING, Severity.ERROR))
    assert exit_code(report(mixed), strict=False) is ExitCode.FAILED


def test_a_failure_without_a_finding_still_fails() -> None:
    assert exit_code(report(function(check("GT101", Verdict.FAIL))), strict=False) == 1


def test_an_entry_of_the_configuration_that_does_not_fit_is_a_mistake_of_usage() -> None:
    misfit = report(function(check("GT002", Verdict.ERROR, Severity.ERROR)), WRONG)
    assert exit_code(misfit, strict=False) is ExitCode.FAILED
    assert exit_code(replace(misfit, configs=(HERE.path,)), strict=False) is ExitCode.USAGE
    wrong = replace(report(WRONG), configs=(HERE.path,))
    assert exit_code(wrong, strict=False) is ExitCode.FAILED


def test_an_interrupted_run_is_that_before_anything_else() -> None:
    for modules in ([], [WRONG], [BROKEN], [PASSED]):
        code = exit_code(report(*modules, interrupted=True), strict=False)
        assert code is ExitCode.INTERRUPTED


def test_the_numbers_are_api() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "PASSED": 0,
        "FAILED": 1,
        "USAGE": 2,
        "INTERNAL": 3,
        "NOT_IMPORTED": 4,
        "NOTHING_CHECKED": 5,
        "HUNG_UP": 129,
        "INTERRUPTED": 130,
        "TERMINATED": 143,
    }


def test_a_listing_fails_where_a_check_could_not_begin() -> None:
    bare = function()
    empty = ModuleResult(path="c.py")
    assert collected_code([bare]) is ExitCode.PASSED
    assert collected_code([bare, BROKEN]) is ExitCode.NOT_IMPORTED
    assert collected_code([empty]) is ExitCode.NOTHING_CHECKED
