"""A transfer report as Markdown: for the summary of a CI step, a comment or a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradtool.report.formats.markdown import escaped
from gradtool.report.tabular import Table
from gradtool.report.transfer.lines import (
    advice_lines,
    header_lines,
    last_line,
    not_measured,
    requirement_lines,
)
from gradtool.report.transfer.tables import tables
from gradtool.results.transfer import TransferReport


def render(report: TransferReport) -> str:
    """Heading, tables, advice, and what was not measured."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: TransferReport) -> Iterator[str]:
    yield "## gradtool profile-transfer" + (" (SIMULATED)" if report.simulated else "")
    yield ""
    yield from (f"{escaped(line)}  " for line in header_lines(report))
    yield ""
    for table in tables(report):
        yield from _table(table)
    yield from _list("Advice", advice_lines(report))
    yield from _list("Requirements", requirement_lines(report))
    yield from _list("Not measured", list(not_measured(report)))
    yield from _list("Notices", report.notices)
    yield escaped(last_line(report))


def _table(table: Table) -> Iterator[str]:
    shown = [place for place, column in enumerate(table.columns) if not column.narrow_only]
    yield f"### {escaped(table.title)}"
    yield ""
    yield _row([table.columns[place].name for place in shown])
    yield _row(["---:" if table.columns[place].right else "---" for place in shown], raw=True)
    for row in table.rows:
        yield _row([row[place] for place in shown])
    yield ""
    for note in table.notes:
        yield f"_{escaped(note)}_"
        yield ""


def _row(cells: Sequence[str], *, raw: bool = False) -> str:
    return "| " + " | ".join(cell if raw else escaped(cell) for cell in cells) + " |"


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"### {title}"
        yield ""
        yield from (f"- {escaped(line)}" for line in lines)
        yield ""
