"""The effect of a verdict on the run, given the severities of its findings.

A check that found only notes, or only warnings in a run that is not strict, does not stop the
gate.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradtool.results.report import CheckResult, Family, Finding, Severity, Verdict, worst

STOPPING = frozenset({Verdict.FAIL, Verdict.UNVERIFIED, Verdict.ERROR})
"""Verdicts that fail the run."""


def stops(finding: Finding, *, strict: bool) -> bool:
    """Return True if a finding fails the run: by its severity, and unless the baseline has it."""
    return not finding.known and _is_serious(finding, strict=strict)


def _is_serious(finding: Finding, *, strict: bool) -> bool:
    if finding.severity is Severity.WARNING:
        return strict
    return finding.severity is Severity.ERROR


def standing(check: CheckResult, *, strict: bool) -> Verdict:
    """The verdict of a check as the exit status counts it."""
    found = check.findings
    if check.verdict not in STOPPING or not found or any(stops(f, strict=strict) for f in found):
        return check.verdict
    if is_known(check, strict=strict):
        return Verdict.KNOWN
    if check.verdict is not Verdict.FAIL:
        return check.verdict
    # What could not run has not passed, even if that is only worth a warning.
    return Verdict.SKIPPED if check.rule in Family.RUNNING else Verdict.PASS


def is_known(check: CheckResult, *, strict: bool) -> bool:
    """Return True if the check does not fail the run only because of the baseline."""
    serious = [finding for finding in check.findings if _is_serious(finding, strict=strict)]
    return bool(serious) and all(finding.known for finding in serious)


def answers(check: CheckResult) -> bool:
    """Return True if the check was answered and is about a gradient or its contract."""
    return check.verdict is not Verdict.SKIPPED and check.rule not in Family.RUNNING


def overall(checks: Iterable[CheckResult], *, strict: bool) -> Verdict:
    """The worst standing of several checks; of none, SKIPPED."""
    return worst([standing(check, strict=strict) for check in checks])
