"""The cells of a report as comma-separated values, one line each; times in seconds."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from gradtool.measure.summary import Summary
from gradtool.report.words import csv_cell
from gradtool.results.transfer import Cell, TransferReport

_TIMES = ("call", "done", "device")

COLUMNS = (
    "simulated", "id", "row", "scenario", "label", "direction", "mode", "tensors", "bytes",
    *(f"{time}_{part}" for time in _TIMES for part in ("median", "p25", "p75")), "n", "batch",
    "gbps", "device_gbps", "link_share", "host_freed", "verified", "cache_hot", "trust",
    "published", "unavailable",
)  # fmt: skip


def render(report: TransferReport) -> str:
    """A line of names and a line for each cell; unknown values are empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell in report.cells:
        writer.writerow(["" if value is None else csv_cell(value) for value in _values(cell)])
    return file.getvalue()


def _values(cell: Cell) -> Iterator[object]:
    yield from (
        str(cell.simulated).lower(), cell.id, cell.row, cell.scenario, cell.label,
        cell.direction, cell.mode, cell.tensors, cell.bytes,
    )  # fmt: skip
    summaries: tuple[Summary | None, ...] = (cell.call, cell.done, cell.device)
    for summary in summaries:
        yield from ((None,) * 3 if summary is None else (summary.median, summary.p25, summary.p75))
    yield from (
        cell.done and cell.done.n, cell.batch, cell.gbps, cell.device_gbps, cell.link_share,
        cell.host_freed, str(cell.verified).lower(), str(cell.cache_hot).lower(),
        cell.done and cell.done.trust, cell.published, cell.unavailable,
    )  # fmt: skip
