"""A transfer report as one self-contained HTML file."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

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


def _body(report: TransferReport) -> Iterator[str]:
    if report.simulated:
        yield '<p class="simulated">SIMULATED: host memory stood in for a device.</p>'
    yield lines(header_lines(report))
    if any(cell.gbps and cell.tensors == 1 and not cell.row for cell in report.cells):
        yield f'<div class="wide chart">{ET.tostring(picture(report), encoding="unicode")}</div>'
    yield from bullets("Advice", advice_lines(report))
    yield from bullets("Requirements", requirement_lines(report))
    for shown in tables(report):
        yield from table(shown)
    yield from bullets("Not measured", list(not_measured(report)))
    yield from bullets("Notices", report.notices)
    yield lines([last_line(report)])
