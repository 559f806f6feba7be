"""A profile as Markdown: for the summary of a CI step, a comment or a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gradtool.report.formats.markdown import escaped
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
from gradtool.results.profile import FunctionProfile, ProfileReport


def render(report: ProfileReport) -> str:
    """Heading, a section for each Function, and what was not profiled."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: ProfileReport) -> Iterator[str]:
    yield "## gradtool profile"
    yield ""
    yield escaped(header(report))
    yield ""
    for function in report.functions:
        yield from _function(function)
    yield from (f"- {escaped(notice)}" for notice in report.notices)
    yield escaped(last_line(report))


def _function(function: FunctionProfile) -> Iterator[str]:
    yield f"### {escaped(function.node)}"
    yield ""
    if function.cases:
        yield from _table(COLUMNS, rows(function))
    found = [f"- {escaped(line)}" for line in problems(function)]
    if found:
        yield from [*found, ""]
    operations = list(operation_rows(function))
    if operations:
        yield from ["<details><summary>Operations</summary>", ""]
        yield from _table(OPERATION_COLUMNS, operations)
        yield from ["</details>", ""]


def _table(columns: Sequence[str], found: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _row(columns)
    yield "| " + " | ".join("---" if each in TEXT_COLUMNS else "---:" for each in columns) + " |"
    yield from (_row([escaped(cell) for cell in row]) for row in found)
    yield ""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
