"""A profile for a terminal: a table for each Function, with its costliest operations."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradtool.report.profile.rows import (
    COLUMNS,
    OPERATION_COLUMNS,
    header,
    in_brief,
    last_line,
    operation_rows,
    problems,
    rows,
)
from gradtool.report.terminal.console import DIM, STRONG, Page, make_console
from gradtool.results.profile import FunctionProfile, ProfileReport

_PLAIN_WIDTH = 120
_LEFT = {"phase", "operation", "trust"}
_INDENT = 2


def render(report: ProfileReport, console: Console, *, verbosity: int = 0) -> None:
    """Write a profile to a console; below 0 without header, above 0 with every operation."""
    page = Page(console)
    if verbosity >= 0:
        page.wrapped(Text(header(report), style=DIM))
        page.blank()
    for function in report.functions:
        _write_function(page, console, function, verbosity)
    for notice in report.notices:
        page.wrapped(Text(notice, style=DIM))
    page.wrapped(Text(last_line(report), style=STRONG))


def plain(report: ProfileReport, *, width: int = _PLAIN_WIDTH, verbosity: int = 0) -> str:
    """The profile as text without colour."""
    file = io.StringIO()
    render(report, make_console(file, "never", width=width), verbosity=verbosity)
    return file.getvalue()


def _write_function(
    page: Page, console: Console, function: FunctionProfile, verbosity: int
) -> None:
    page.wrapped(Text(function.node, style=STRONG))
    if any(case.phases for case in function.cases):
        _write_table(page, console, COLUMNS, rows(function), heads=1)
    for line in problems(function):
        page.wrapped(Text(line), first=Text("  - "), indent=4)
    if verbosity > 0:
        _write_table(page, console, OPERATION_COLUMNS, operation_rows(function), heads=2)
    elif verbosity == 0:
        _write_brief(page, function)
    page.blank()


def _write_brief(page: Page, function: FunctionProfile) -> None:
    """Write the costliest operations of the first case; those of other cases are similar."""
    first = next((case for case in function.cases if case.phases), None)
    for phase in first.phases if first else ():
        if phase.operations:
            lead = Text(f"  {phase.name:<15}  ", style=DIM)
            page.wrapped(Text(in_brief(phase), style=DIM), first=lead, indent=19)


def _write_table(
    page: Page, console: Console, columns: Sequence[str], found: Iterable[Sequence[str]], heads: int
) -> None:
    """A table whose first columns, so many as `heads`, stand in lines of their own."""
    table = Table(box=None, pad_edge=False, header_style=DIM, padding=(0, 2, 0, 0))
    for name in columns[heads:]:
        is_left = name in _LEFT
        table.add_column(name, justify="left" if is_left else "right", overflow="fold")
    last: Sequence[str] = ()
    for row in found:
        if row[:heads] != last:
            last = row[:heads]
            table.add_row(", ".join(last))
        table.add_row(f"  {row[heads]}", *row[heads + 1 :])
    with console.capture() as capture:
        console.print(table, width=min(page.width, _PLAIN_WIDTH) - _INDENT)
    for line in Text.from_ansi(capture.get()).split("\n", allow_blank=False):
        line.rstrip()
        page.whole(Text(" " * _INDENT) + line)
