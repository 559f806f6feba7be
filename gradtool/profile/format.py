"""Findings about what could not run, in one line each."""

from __future__ import annotations

from gradtool.results.report import CheckResult


def told(check: CheckResult) -> str:
    """What was found, where, and what to do, or why it was skipped."""
    if not check.findings:
        return check.reason or ""
    finding = check.findings[0]
    place = finding.location
    where = f" ({place.path}{f':{place.line}' if place.line else ''})" if place else ""
    return f"{finding.message}{where}" + (f"; {finding.hint}" if finding.hint else "")
