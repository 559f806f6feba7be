"""A failure at arguments that were read counts only if all of them fail alike."""

from __future__ import annotations

import msgspec
import pytest

from gradtool.policy.changes import apply
from gradtool.policy.inferred_cases import doubt_lone_failures
from gradtool.results.report import CaseResult, CheckResult, FunctionResult, Verdict
from tests.policy import reports

FAILED = reports.check("GT101", Verdict.FAIL, reports.finding(hint="look"))
PASSED = reports.check("GT101", Verdict.PASS)


def case(name: str, check: CheckResult, **fields: object) -> CaseResult:
    read = CaseResult(name=name, source="inferred", inferred_from="the call at line 3")
    return msgspec.structs.replace(read, checks=(check,), **fields)


def judged(*cases: CaseResult) -> FunctionResult:
    function = FunctionResult(name="F", location=reports.HERE, cases=cases)
    report = apply([doubt_lone_failures], reports.report(function))
    return report.modules[0].functions[0]


def verdicts(function: FunctionResult) -> list[Verdict]:
    return [check.verdict for case in function.cases for check in case.checks]


def test_what_fails_at_both_fails_and_says_where_the_arguments_come_from() -> None:
    function = judged(case("a", FAILED), case("b", FAILED))
    assert verdicts(function) == [Verdict.FAIL, Verdict.FAIL]
    assert function.cases[0].checks[0].findings[0].hint == (
        "look; its arguments were inferred from the call at line 3: "
        "if they make no sense, write a case in gradtool.yaml or sample_inputs"
    )


@pytest.mark.parametrize(
    "cases",
    [
        [case("a", FAILED), case("b", PASSED)],
        [case("a", FAILED)],
        [case("a", FAILED), case("b", reports.check("GT102", Verdict.FAIL))],
        [case("a", FAILED, is_guess=True), case("b", FAILED, is_guess=True)],
    ],
    ids=["passes beside it", "alone", "another rule", "guessed"],
)
def test_what_nothing_confirms_is_in_doubt(cases: list[CaseResult]) -> None:
    assert Verdict.FAIL not in verdicts(judged(*cases))
    assert verdicts(judged(*cases))[0] is Verdict.UNVERIFIED


def test_other_cases_are_left_alone() -> None:
    own = case("a", FAILED, source="config", inferred_from=None)
    assert verdicts(judged(own, case("b", PASSED))) == [Verdict.FAIL, Verdict.PASS]


def test_a_backward_that_was_not_run_is_not_in_doubt() -> None:
    skipped = reports.check("GT004", Verdict.SKIPPED)
    assert verdicts(judged(case("a", skipped, is_guess=True))) == [Verdict.SKIPPED]


def test_a_timeout_is_in_doubt_where_the_arguments_are_guessed() -> None:
    stopped = reports.check("GT006", Verdict.ERROR, reports.finding("GT006"))
    assert verdicts(judged(case("a", stopped, is_guess=True))) == [Verdict.UNVERIFIED]
    assert verdicts(judged(case("a", stopped))) == [Verdict.ERROR]


def test_a_case_for_which_no_time_was_left_is_skipped() -> None:
    left = reports.check("GT006", Verdict.SKIPPED)
    assert verdicts(judged(case("a", left, is_guess=True))) == [Verdict.SKIPPED]
