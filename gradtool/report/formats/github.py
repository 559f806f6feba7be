"""A report as annotations of GitHub Actions: workflow commands that a runner reads from a log.

GitHub shows ten annotations of a kind for each step and silently drops the rest, so the
tenth counts the others. Format and escapes:
https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from gradtool.report.findings import problems, title, worst_first
from gradtool.report.formats.repository import repository_path
from gradtool.report.summary import summary_line
from gradtool.report.words import one_line, with_code_lines
from gradtool.results.report import Finding, Report, Severity

MOST = 10
"""Annotations of one kind that GitHub shows."""

_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> str:
    """One workflow command a line, the worst first, then the summary."""
    return "\n".join([*commands(report), summary_line(report)]) + "\n"


def commands(report: Report) -> Iterator[str]:
    """The workflow commands."""
    for line in report.unmet:
        yield f"::error title=gradtool::{_data(line)}"
    listed = worst_first(problems(report))
    for severity, group in groupby(listed, key=lambda finding: finding.severity):
        found = list(group)
        # One less, since the line that counts the others is an annotation too.
        shown = found if len(found) <= MOST else found[: MOST - 1]
        yield from map(_command, shown)
        if len(found) > len(shown):
            yield _rest(_KINDS[severity], len(found) - len(shown))


def _rest(kind: str, count: int) -> str:
    text = f"+{count} more; GitHub shows {MOST} of each kind; the log of this step lists them all"
    return f"::{kind} title=gradtool::{_data(text)}"


def _command(finding: Finding) -> str:
    properties = {"file": repository_path(finding.location.path)}
    if finding.location.line is not None:
        properties["line"] = str(finding.location.line)
        if finding.source is not None:
            properties["col"] = str(finding.source.column)
            properties["endColumn"] = str(finding.source.end_column)
    properties["title"] = title(finding)
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_KINDS[finding.severity]} {listed}::{_data(_text(finding))}"


def _text(finding: Finding) -> str:
    hint = f"\nhint: {with_code_lines(finding.hint)}" if finding.hint else ""
    replay = f"\nreplay: {one_line(finding.replay)}" if finding.replay else ""
    return f"{one_line(finding.message)}{hint}{replay}"


def _data(text: str) -> str:
    # "%" first, or the escapes made of the others would be escaped again.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
