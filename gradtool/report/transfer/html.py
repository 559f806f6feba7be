"""A transfer report as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.report.html.elements import Child, element
from gradtool.report.html.tabular import bullets, lines, page, table
from gradtool.report.transfer.chart import picture
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
    """The whole page."""
    return page("gradtool profile-transfer", _body(report))


def _body(report: TransferReport) -> Iterator[Child]:
    if report.simulated:
        yield element("p", "SIMULATED: host memory in place of a device.", class_="simulated")
    yield lines([last_line(report)])
    yield lines(header_lines(report), class_="dim")
    yield from bullets("Advice", advice_lines(report), class_="card advice")
    if any(cell.gbps and cell.tensors == 1 and not cell.row for cell in report.cells):
        chart = element("div", picture(report), class_="scroll chart", tabindex="0")
        yield element("section", element("h2", "Bandwidth by size"), chart, class_="card")
    yield from bullets("Requirements", requirement_lines(report), class_="card")
    for shown in tables(report):
        yield element("section", *table(shown), class_="card")
    yield from bullets("Not measured", list(not_measured(report)))
    yield from bullets("Notices", report.notices)
