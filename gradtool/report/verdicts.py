"""What a verdict does to the gate, once the severity of its findings is weighed in.

A check that found only notes, or only warnings in a run that is not strict, has found
something to say and nothing to stop a merge for.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradtool.results import CheckResult, Finding, Severity, Verdict, worst

STOPPING = frozenset({Verdict.FAIL, Verdict.UNVERIFIED, Verdict.ERROR})
"""Verdicts that stop the gate."""


def stops(finding: Finding, *, strict: bool) -> bool:
    """Whether a finding of this severity stops the gate."""
    if finding.severity is Severity.WARNING:
        return strict
    return finding.severity is Severity.ERROR


def standing(check: CheckResult, *, strict: bool) -> Verdict:
    """The verdict of a check as the gate counts it."""
    found = check.findings
    if check.verdict is Verdict.FAIL and found and not any(stops(f, strict=strict) for f in found):
        return Verdict.PASS
    return check.verdict


def answers(check: CheckResult) -> bool:
    """Whether the check says anything about a gradient or its contract.

    The rules of the family GT0 only say whether there was something to ask.
    """
    return check.verdict is not Verdict.SKIPPED and not check.rule.startswith("GT0")


def overall(checks: Iterable[CheckResult], *, strict: bool) -> Verdict:
    """The worst standing of several checks; of none, SKIPPED."""
    return worst([standing(check, strict=strict) for check in checks])
