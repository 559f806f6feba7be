"""A pass needs entries that were compared."""

from __future__ import annotations

import msgspec
import pytest

from gradtool.config.settings import Settings
from gradtool.policy.evidence import require_evidence
from gradtool.results.report import (
    CheckResult,
    FunctionResult,
    Report,
    Severity,
    Skip,
    SkipKind,
    Verdict,
)
from tests.policy import reports

SETTINGS = Settings(codes=("GT101", "GT119"))
PASSED = reports.check("GT101", Verdict.PASS)


def skipped(kind: SkipKind, detail: str = "", blocked_by: str | None = None) -> CheckResult:
    skip = Skip(kind=kind, detail=detail, blocked_by=blocked_by)
    return CheckResult(rule="GT119", verdict=Verdict.SKIPPED, skip=skip)


def judged(function: FunctionResult, settings: Settings = SETTINGS, **fields: object) -> Report:
    report = reports.report(function, **fields)
    return require_evidence(reports.run_settings(settings))(report)


def test_a_pass_without_a_compared_entry_is_unverified() -> None:
    found = judged(reports.function(PASSED, compared=0))
    assert found.verdict is Verdict.UNVERIFIED
    (finding,) = found.findings()
    assert (finding.rule, finding.severity) == ("GT119", Severity.ERROR)
    assert finding.message == "nothing was compared: no entry of a derivative was evaluated"


def test_one_compared_entry_of_any_case_is_enough() -> None:
    empty = reports.function(PASSED, compared=0)
    full = reports.function(PASSED).cases[0]
    both = msgspec.structs.replace(empty, cases=(*empty.cases, full))
    assert judged(both).verdict is Verdict.PASS


def test_a_function_without_any_case_is_unverified() -> None:
    none = msgspec.structs.replace(reports.function(), cases=())
    assert judged(none).verdict is Verdict.UNVERIFIED
    assert judged(none, interrupted=True).verdict is Verdict.SKIPPED


def test_the_reason_is_that_of_the_check() -> None:
    empty = skipped(SkipKind.INAPPLICABLE, "every output is empty")
    (finding,) = judged(reports.function(PASSED, empty, compared=0)).findings()
    assert finding.message == "nothing was compared: every output is empty"
    blocked = skipped(SkipKind.BLOCKED, blocked_by="GT501")
    (finding,) = judged(reports.function(PASSED, blocked, compared=0)).findings()
    assert finding.message == "nothing was compared: blocked by GT501"


def test_a_warning_about_it_becomes_an_error() -> None:
    warned = reports.finding("GT119", severity=Severity.WARNING)
    found = judged(reports.function(reports.check("GT119", Verdict.FAIL, warned), compared=0))
    (finding,) = found.findings()
    assert (finding.severity, finding.message) == (Severity.ERROR, warned.message)


@pytest.mark.parametrize(
    "check",
    [
        skipped(SkipKind.NOT_OFFERED, "a derivative"),
        reports.check("GT003", Verdict.ERROR, reports.finding("GT003")),
        reports.check("GT501", Verdict.FAIL, reports.finding("GT501")),
    ],
    ids=lambda check: check.rule,
)
def test_what_is_reported_or_has_no_derivative_needs_no_evidence(check: CheckResult) -> None:
    function = reports.function(check, compared=0)
    assert judged(function).modules[0].functions == (function,)


def test_a_problem_that_is_ignored_for_a_reason_needs_no_evidence() -> None:
    ignored = msgspec.structs.replace(SETTINGS, ignored=reports.ignored(GT501="meant").ignored)
    blocked = skipped(SkipKind.BLOCKED, blocked_by="GT501")
    assert judged(reports.function(PASSED, blocked, compared=0), ignored).verdict is Verdict.PASS


def test_a_run_of_other_rules_needs_no_evidence() -> None:
    other = Settings(codes=("GT501",))
    assert judged(reports.function(PASSED, compared=0), other).verdict is Verdict.PASS
