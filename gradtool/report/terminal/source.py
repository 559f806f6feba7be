"""The user's lines that a finding is about, with what is meant marked from below."""

from __future__ import annotations

from rich.text import Text

from gradtool.report.terminal.lines import Page
from gradtool.report.terminal.styles import DIM, SEVERITIES
from gradtool.report.words import printable
from gradtool.results.report import Finding

_INDENT = 2
_BEFORE = 1
_AFTER = 4


def write_source(page: Page, finding: Finding, *, whole: bool) -> None:
    """Write the source of `finding`, if it has any: the lines next to its own, or all."""
    source, line = finding.source, finding.location.line
    if source is None or line is None:
        return
    shown = [
        (number, text)
        for number, text in enumerate(source.lines, source.first)
        if whole or line - _BEFORE <= number <= line + _AFTER
    ]
    while len(shown) > 1 and not shown[-1][1].strip():
        shown.pop()
    digits = len(str(shown[-1][0]))
    for number, text in shown:
        mark = ">" if number == line else " "
        made = _line(f"{mark} {number:{digits}} | ", text, is_meant=number == line)
        made.truncate(page.width, overflow="ellipsis")
        page.whole(made)
        if number == line:
            carets = "^" * max(source.end_column - source.column, 1)
            lead = " " * (_INDENT + 2 + digits) + " | " + " " * (source.column - 1)
            page.whole(Text(lead, style=DIM).append(carets, style=SEVERITIES[finding.severity]))


def _line(lead: str, text: str, *, is_meant: bool) -> Text:
    line = Text(" " * _INDENT + lead, style=DIM)
    line.append(printable(text), style="not dim" if is_meant else DIM)
    line.rstrip()
    return line
