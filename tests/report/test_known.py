"""Findings of the baseline: counted and marked, nowhere shown in full, and no failure."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from gradtool.cli.exit_codes import ExitCode, exit_code
from gradtool.policy.changes import change_checks
from gradtool.report.formats import renderer
from gradtool.report.summary import summarize, summary_line
from gradtool.report.terminal import plain
from gradtool.results.report import CheckResult, Finding, Report, Verdict
from tests.report.test_sarif import VALIDATOR


def knowing(report: Report, *rules: str) -> Report:
    """The report with the findings of `rules`, or all, known."""

    def mark(check: CheckResult) -> CheckResult:
        if rules and check.rule not in rules:
            return check
        found = (msgspec.structs.replace(finding, known=True) for finding in check.findings)
        return msgspec.structs.replace(check, findings=tuple(found))

    return msgspec.structs.replace(report, modules=change_checks(report.modules, mark))


@pytest.fixture
def known(report: Report) -> Report:
    return knowing(report, "GT101")


def wrong(report: Report) -> Finding:
    return next(finding for finding in report.findings() if finding.rule == "GT101")


def test_a_case_with_a_known_finding_has_neither_failed_nor_passed(
    report: Report, known: Report
) -> None:
    before, after = summarize(report), summarize(known)
    assert after.failed < before.failed
    assert (before.known_cases, after.known_cases) == (0, before.failed - after.failed)
    assert after.skipped == before.skipped
    assert f", {after.known_cases} known, " in summary_line(known)
    assert after.passed == before.passed
    assert f"{after.known} finding" in summary_line(known)
    assert "in the baseline; not checked:" in summary_line(known)


@pytest.mark.parametrize("form", ["text", "concise", "github", "markdown"])
def test_a_known_finding_is_not_told_in_full(form: str, report: Report, known: Report) -> None:
    message = wrong(report).message[:50]
    assert message in renderer(form)(report)
    assert message not in renderer(form)(known)


def test_the_table_names_it(known: Report) -> None:
    assert "known GT101 wrong-gradient" in plain(known)


def test_sarif_says_which_results_are_new(report: Report, known: Report) -> None:
    def results(of: Report) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(renderer("sarif")(of))["runs"][0]["results"]
        return found

    states = [result["baselineState"] for result in results(known)]
    assert states.count("unchanged") == summarize(known).known
    assert states.count("new") == len(states) - summarize(known).known > 0
    suppressed = [result for result in results(known) if "suppressions" in result]
    assert {result["ruleId"] for result in suppressed} == {"GT101"}
    VALIDATOR.validate(json.loads(renderer("sarif")(known)))
    assert not any("baselineState" in result for result in results(report))


def test_json_has_the_mark(known: Report) -> None:
    again = msgspec.json.decode(renderer("json")(known), type=Report)
    assert [finding.known for finding in again.findings()] == [
        finding.known for finding in known.findings()
    ]


def test_nothing_known_fails_the_gate(report: Report) -> None:
    answered = [m for m in report.modules if m.path in {"ops/linear.py", "ops/wrong_exp.py"}]
    part = msgspec.structs.replace(report, modules=tuple(answered), interrupted=False)
    assert exit_code(part, strict=True) is ExitCode.FAILED
    assert exit_code(knowing(part), strict=True) is ExitCode.PASSED
    assert exit_code(knowing(part), strict=False) is ExitCode.PASSED


def test_a_known_warning_of_a_lenient_run_lets_the_case_pass(report: Report) -> None:
    def standing(of: Report) -> list[Verdict]:
        from gradtool.report.rows import rows

        return [row.verdict for row in rows(of)]

    warned = [f.rule for f in report.findings() if f.severity.value == "warning"]
    assert standing(knowing(report, *warned)) == standing(report)


def test_a_module_that_does_not_import_is_told_of_though_known(report: Report) -> None:
    assert "1 module that cannot be imported" in summary_line(knowing(report))
