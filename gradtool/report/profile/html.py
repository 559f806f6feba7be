"""A profile as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from gradtool.report.html.tabular import bullets, lines, page, table
from gradtool.report.profile.rows import (
    COLUMNS,
    OPERATION_COLUMNS,
    TEXT_COLUMNS,
    header,
    last_line,
    operation_rows,
    problems,
    rows,
)
from gradtool.report.tabular import Column, Table
from gradtool.results.profile import FunctionProfile, ProfileReport


def render(report: ProfileReport) -> str:
    """The whole page."""
    return page("gradtool profile", _body(report))


def _body(report: ProfileReport) -> Iterator[str]:
    yield lines([header(report)])
    for function in report.functions:
        yield from _function(function)
    yield from bullets("Notices", report.notices)
    yield lines([last_line(report)])


def _function(function: FunctionProfile) -> Iterator[str]:
    yield from table(_table(function.node, COLUMNS, rows(function), by=1))
    yield from bullets("", list(problems(function)))
    operations = list(operation_rows(function))
    if operations:
        yield "<details><summary>Operations</summary>"
        yield from table(_table("", OPERATION_COLUMNS, operations, by=2))
        yield "</details>"


def _table(title: str, names: Sequence[str], found: Iterable[Sequence[str]], *, by: int) -> Table:
    """A table whose rows belong together where their first columns are the same."""
    columns = [Column(name, right=name not in TEXT_COLUMNS) for name in names]
    groups = [list(group) for _, group in groupby(found, key=lambda row: row[:by])]
    return Table(title, columns if groups else (), groups)
