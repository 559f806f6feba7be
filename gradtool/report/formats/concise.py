"""One line a finding, ``file:line: GT101 message``, for editors, ``grep`` and small logs."""

from __future__ import annotations

from gradtool.report.findings import place, problems
from gradtool.report.summary import summary_line
from gradtool.report.words import one_line
from gradtool.results.report import Finding, Report, Severity


def render(report: Report) -> str:
    """The findings, one a line, then the notices of the run and its summary."""
    lines = [finding_line(finding) for finding in problems(report)]
    lines += [one_line(notice) for notice in report.notices]
    return "\n".join([*lines, summary_line(report)]) + "\n"


def finding_line(finding: Finding) -> str:
    """One finding as one line; a severity other than error is named."""
    kind = "" if finding.severity is Severity.ERROR else f"{finding.severity.value}: "
    return f"{place(finding.location)}: {finding.rule} {kind}{one_line(finding.message)}"
