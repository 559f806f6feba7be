"""A profile as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from gradtool.report.html.elements import Child, element, folded
from gradtool.report.html.tabular import bullets, lines, page, table
from gradtool.report.profile.chart import chart
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


def _body(report: ProfileReport) -> Iterator[Child]:
    yield lines([last_line(report)])
    yield lines([header(report)], class_="dim")
    for function in report.functions:
        yield element("section", *_function(function), class_="card")
    yield from bullets("Notices", report.notices)


def _function(function: FunctionProfile) -> Iterator[Child]:
    yield element("h2", function.node)
    yield chart(function)
    found = list(rows(function))
    if found:
        yield from table(_table(COLUMNS, found, by=1))
    yield from bullets("", list(problems(function)))
    operations = list(operation_rows(function))
    if operations:
        yield folded("Operations", *table(_table(OPERATION_COLUMNS, operations, by=2)))


def _table(names: Sequence[str], found: Iterable[Sequence[str]], *, by: int) -> Table:
    """A table whose rows belong together where their first columns are the same."""
    columns = [Column(name, right=name not in TEXT_COLUMNS) for name in names]
    groups = [list(group) for _, group in groupby(found, key=lambda row: row[:by])]
    return Table("", columns, groups).without_empty()
