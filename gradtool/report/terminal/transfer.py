"""A transfer report for a person at a terminal: tables, advice, and what was not measured.

On a narrow terminal, columns are left out for which there is a brief one.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from gradtool.report.tabular import Table
from gradtool.report.terminal.console import DIM, STRONG, Page, make_console
from gradtool.report.transfer.lines import (
    advice_lines,
    header_lines,
    last_line,
    not_measured,
    regressions,
    requirement_mark,
)
from gradtool.report.transfer.tables import tables
from gradtool.results.transfer import TransferReport

WIDE = 104
"""Width of a terminal from which on nothing is left out."""

_BAD = "bold red"
_GOOD = "green"


def render(report: TransferReport, console: Console, *, verbosity: int = 0) -> None:
    """Write a report to a console; below 0, without header and tables, but with regressions."""
    page = Page(console)
    if verbosity >= 0:
        for line in header_lines(report):
            page.wrapped(Text(line, style=DIM))
        page.blank()
        for table in tables(report):
            _write_table(page, table)
    _write_list(page, "regressed", regressions(report) if verbosity < 0 else [])
    _write_list(page, "advice", advice_lines(report))
    _write_requirements(page, report)
    _write_list(page, "not measured", list(not_measured(report)), style=DIM)
    _write_list(page, "notices", report.notices, style=DIM)
    page.wrapped(Text(last_line(report), style=STRONG))


def plain(report: TransferReport, *, width: int | None = None, verbosity: int = 0) -> str:
    """The report as text without colour; `width` None leaves every line whole."""
    file = io.StringIO()
    render(report, make_console(file, "never", width=width), verbosity=verbosity)
    return file.getvalue()


def _write_table(page: Page, table: Table) -> None:
    narrow = page.width < WIDE
    shown = [
        place
        for place, column in enumerate(table.columns)
        if not (column.wide_only if narrow else column.narrow_only)
    ]
    names = [table.columns[place].name for place in shown]
    rows = [[row[place] for place in shown] for row in table.rows]
    widths = [max(len(row[at]) for row in [names, *rows]) for at in range(len(shown))]
    gap = " " if narrow else "  "

    def line(row: Sequence[str]) -> str:
        cells = (
            cell.rjust(width) if table.columns[place].right else cell.ljust(width)
            for cell, width, place in zip(row, widths, shown, strict=True)
        )
        return gap.join(cells).rstrip()

    page.wrapped(Text(table.title, style=STRONG))
    page.whole(Text(line(names), style=DIM))
    for number, group in enumerate(table.groups):
        if narrow and table.names:
            page.whole(Text(table.names[number], style=STRONG))
        elif number:
            page.blank()
        for row in group:
            page.whole(_coloured(line([row[place] for place in shown])))
    for note in table.notes:
        page.wrapped(Text(note, style=DIM))
    page.blank()


def _coloured(text: str) -> Text:
    return Text(text, style=_BAD if text.endswith("REGRESSED") else "")


def _write_list(page: Page, title: str, lines: Sequence[str], style: str = "") -> None:
    if not lines:
        return
    page.whole(Text(title, style=STRONG))
    for line in lines:
        page.wrapped(Text(line, style=style), first=Text("  - "), indent=4)
    page.blank()


def _write_requirements(page: Page, report: TransferReport) -> None:
    if not report.requirements:
        return
    page.whole(Text("requirements", style=STRONG))
    for each in report.requirements:
        mark = Text(f"  {requirement_mark(each):<13}", style=_GOOD if each.met else _BAD)
        page.wrapped(Text(f"{each.text} ({each.reason})"), first=mark, indent=15)
    page.blank()
