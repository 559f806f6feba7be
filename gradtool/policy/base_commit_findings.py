"""``--baseline-commit REF``: mark what was found before the work began as known.

A finding is recognized by its fingerprint, so one in a file or Function that was renamed counts as
new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from gradtool.policy.baseline import Baseline, mark_known
from gradtool.policy.changes import Policy, add_notices
from gradtool.results.report import Finding, Report, Severity

FLAG = "--baseline-commit"


class BaseFindings(msgspec.Struct, frozen=True):
    """The findings at another commit, in the files of a report that have new ones."""

    ref: str
    commit: str
    known: Baseline


FindAtBase = Callable[[Report], BaseFindings | None]
"""Looks for the findings of a report at another commit. None: it was interrupted."""


def mark_known_at_base(find: FindAtBase) -> Policy:
    """Mark the findings that `find` finds too."""

    def policy(report: Report) -> Report:
        new = list(new_findings(report))
        # Checking the other commit costs a run of its own.
        if not new or report.interrupted:
            return report
        found = find(report)
        if found is None:
            return msgspec.structs.replace(report, interrupted=True)
        marked = mark_known(found.known)(report)
        count = len(new) - len(list(new_findings(marked)))
        many = "finding" if len(new) == 1 else "findings"
        line = f"{FLAG} {found.ref}: {count} of {len(new)} {many} already present at "
        return add_notices(marked, [f"{line}{found.commit[:12]}"])

    return policy


def new_findings(report: Report) -> Iterator[Finding]:
    """Findings that can fail a run."""
    return (
        finding
        for finding in report.findings()
        if finding.severity is not Severity.NOTE and not finding.known
    )
