"""A report as GitLab Code Quality: findings in the widget, and on the lines, of a merge request.

GitLab reads a list of issues and stops at the first without a field; of issues with one
fingerprint it keeps one. It shows those that the target branch does not have, so findings of the
baseline are left out. The format: https://docs.gitlab.com/ci/testing/code_quality/
"""

from __future__ import annotations

from typing import Any

from gradtool.report.findings import problems, title
from gradtool.report.formats.json import indented
from gradtool.report.formats.repository import repository_path
from gradtool.report.words import one_line, printable
from gradtool.results.fingerprint import fingerprints
from gradtool.results.report import Finding, Report, Severity

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(report: Report) -> str:
    """The findings as a list of issues; an empty list where there is none."""
    # Known ones take part in the numbering of equal fingerprints, though they are not listed.
    found = list(problems(report, known=True))
    issues = [
        _issue(finding, print_)
        for finding, print_ in zip(found, fingerprints(found), strict=True)
        if not finding.known
    ]
    return indented(issues)


def _issue(finding: Finding, print_: str) -> dict[str, Any]:
    return {
        "description": f"{title(finding)}: {one_line(finding.message)}",
        "check_name": finding.rule,
        "fingerprint": print_,
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": printable(repository_path(finding.location.path)),
            # A line is required: without one, the file as a whole is meant.
            "lines": {"begin": finding.location.line or 1},
        },
    }
