"""Tables of a report, as text that each format lays out in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from gradtool.measure.summary import Summary
from gradtool.measure.units import about, rate_text, size_text, time_text
from gradtool.report.tabular import Column, Table
from gradtool.results.transfer import Asynchrony, Cell, TransferReport

SIMULATED = "SIMULATED (host memcpy; no PCIe, no DMA)"
"""Start of every table's title where host memory stood in for a device."""

NOT_AVAILABLE = "n/a"

DIRECTIONS = {
    "h2d": "host to device",
    "d2h": "device to host",
    "d2d": "within the device",
    "duplex": "both directions at once, combined",
}


def titled(report: TransferReport, title: str) -> str:
    """A table's title, marked where no device was measured."""
    return f"{SIMULATED}: {title}" if report.simulated else title


_CELL_COLUMNS = (
    Column("scenario", right=False),
    Column("mode", right=False),
    Column("size", wide_only=True),
    Column("call"),
    Column("done"),
    Column("p25-p75", wide_only=True),
    Column("IQR", narrow_only=True),
    Column("device"),
    Column("n"),
    Column("GB/s"),
    Column("ratio"),
    Column("link", wide_only=True),
    Column("", right=False, wide_only=True),
    Column("", right=False),
)

LEGEND = (
    "call: time until the call returns; done: time until the copy is complete, by the host's "
    "clock; device: time between two events; all are medians of n samples; ratio: speed relative "
    "to a blocking copy of pageable memory. ~ noisy, ! too noisy to use, c: the data may stay in "
    "the host's caches."
)

BASELINE = "pageable", "blocking"
"""Scenario and mode of what a program does without further thought."""

ON_HOST = (
    "pinned, registered: mlock'ed memory; the processor copies it, since there is no device. "
    "engine, torch: a copy to new memory."
)
"""What the scenarios are where there is no CUDA."""

_EIGHTHS = " ▏▎▍▌▋▊▉"
_BAR = 8
"""Characters of the longest bar."""


def _cell_tables(report: TransferReport) -> Iterator[Table]:
    """One table for each direction, its rows in groups of one size; the last has the legend."""
    measured = [cell for cell in report.cells if not cell.row and cell.done]
    by_direction = {
        direction: [cell for cell in measured if cell.direction == direction]
        for direction in DIRECTIONS
    }
    last = next((each for each in reversed(DIRECTIONS) if by_direction[each]), "")
    legend = (LEGEND, ON_HOST) if report.header.backend == "host-sim" else (LEGEND,)
    for direction, cells in by_direction.items():
        if cells:
            title = titled(report, DIRECTIONS[direction])
            yield _cell_table(title, cells, legend if direction == last else ())


def _cell_table(title: str, cells: Sequence[Cell], notes: Sequence[str]) -> Table:
    grouped = [
        [cell for cell in cells if _shape(cell) == shape]
        for shape in sorted({_shape(cell) for cell in cells})
    ]
    fastest = max(cell.gbps or 0.0 for cell in cells)
    groups = [[_cell_row(cell, group, fastest) for cell in group] for group in grouped]
    names = [shape_text(group[0]) for group in grouped]
    return Table(title, _CELL_COLUMNS, groups, names, notes).without_empty(NOT_AVAILABLE)


def _shape(cell: Cell) -> tuple[bool, int, int]:
    return cell.tensors > 1, cell.bytes, cell.tensors


def _cell_row(cell: Cell, group: Sequence[Cell], fastest: float) -> list[str]:
    assert cell.done is not None
    return [
        cell.scenario,
        cell.mode,
        shape_text(cell),
        time_of(cell.call),
        time_of(cell.done),
        spread_text(cell.done),
        f"{min(cell.done.relative_iqr, 9.99):.0%}",
        time_of(cell.device),
        str(cell.done.n),
        rate_text(cell.gbps) if cell.gbps else NOT_AVAILABLE,
        ratio_text(cell, group),
        NOT_AVAILABLE if cell.link_share is None else f"{cell.link_share:.0%}",
        bar((cell.gbps or 0.0) / fastest if fastest else 0.0),
        marks(cell),
    ]


def ratio_text(cell: Cell, group: Iterable[Cell]) -> str:
    """Speed relative to the baseline of its group; empty if one of the two cannot be trusted."""
    base = next((each for each in group if (each.scenario, each.mode) == BASELINE), None)
    if base is None or base.doubt or cell.doubt or not (base.done and cell.done):
        return ""
    return f"{base.done.median / cell.done.median:.2f}"


def bar(share: float) -> str:
    """A bar of blocks."""
    whole, part = divmod(round(share * _BAR * 8), 8)
    return "█" * whole + (_EIGHTHS[part] if part else "")


def shape_text(cell: Cell) -> str:
    """``64 MiB``, or ``1000 x 4 kB``."""
    if cell.parts:
        return f"{cell.tensors}, {about(cell.total)}"
    size = size_text(cell.bytes)
    return f"{cell.tensors} x {size}" if cell.tensors > 1 else size


def time_of(summary: Summary | None) -> str:
    """The median, if there is one."""
    return NOT_AVAILABLE if summary is None else time_text(summary.median)


def spread_text(summary: Summary) -> str:
    """``12.1-12.9 us``: the quartiles."""
    return interval_text((summary.p25, summary.p75), time_text)


def interval_text(ends: tuple[float, float] | None, text: Callable[[float], str]) -> str:
    """Both ends of an interval, in one unit where they share it."""
    if ends is None:
        return NOT_AVAILABLE
    low, high = map(text, ends)
    number, _, unit = low.partition(" ")
    return f"{number}-{high}" if high.endswith(f" {unit}") else f"{low}-{high}"


def marks(cell: Cell) -> str:
    """Marks of a cell: noisy, not to be used, in the host's caches."""
    trust = {"noisy": "~", "do not use": "!"}.get(cell.done.trust if cell.done else "", "")
    return trust + ("c" if cell.cache_hot else "")


def optional_size(size: float | None) -> str:
    """A rounded size, if there is one."""
    return NOT_AVAILABLE if size is None else about(size)


def _rows_table(report: TransferReport) -> Table | None:
    """The rows of a configuration, or of a batch, with the times that the file gives."""
    cells = [cell for cell in report.cells if cell.row and (cell.done or cell.published)]
    if not cells:
        return None
    found = [
        [
            cell.row, cell.scenario, cell.mode, shape_text(cell), time_of(cell.call),
            time_of(cell.done), spread_text(cell.done) if cell.done else NOT_AVAILABLE,
            str(cell.done.n) if cell.done else "0",
            ratio_text(cell, (each for each in cells if each.row == cell.row)),
            time_text(cell.published) if cell.published else "", marks(cell),
        ]
        for cell in cells
    ]  # fmt: skip
    columns = (
        Column("row", right=False), Column("scenario", right=False), Column("mode", right=False),
        Column("size", wide_only=True), Column("call", wide_only=True), Column("done"),
        Column("p25-p75", wide_only=True), Column("n"), Column("ratio"), Column("published"),
        Column("", right=False),
    )  # fmt: skip
    return Table(titled(report, "rows of the configuration"), columns, [found])


def _fits_table(report: TransferReport) -> Table | None:
    """Latency and bandwidth of each way of copying."""
    usable = [fit for fit in report.fits if not fit.unavailable]
    if not usable:
        return None
    found = [
        [
            fit.scenario, fit.direction, fit.mode, time_text(fit.latency or 0.0),
            interval_text(fit.latency_interval, time_text),
            rate_text(fit.gbps or 0.0), interval_text(fit.gbps_interval, rate_text),
            optional_size(fit.half_size), f"{fit.worst or 0.0:.0%}", str(fit.sizes),
        ]
        for fit in usable
    ]  # fmt: skip
    columns = (
        Column("scenario", right=False), Column("direction", right=False),
        Column("mode", right=False), Column("latency"), Column("95%", wide_only=True),
        Column("GB/s"), Column("95%", wide_only=True), Column("half at"), Column("worst"),
        Column("sizes"),
    )  # fmt: skip
    note = (
        "time = latency + size / bandwidth, by relative least squares; half at: the size at which "
        "half of the bandwidth is reached; worst: the median farthest from the line"
    )
    return Table(titled(report, "latency and bandwidth"), columns, [found], notes=(note,))


def _asynchrony_table(report: TransferReport) -> Table | None:
    """Time until a call returns while its stream is held: a column for each size."""
    done = [each for each in report.asynchrony if each.verdict]
    if not done:
        return None
    sizes = sorted({each.bytes for each in done})
    took = {
        (each.call, f"{each.memory} {each.direction}", each.bytes): _returned(each) for each in done
    }
    rows = dict.fromkeys((call, copy) for call, copy, _ in took)
    found = [[*row, *(took.get((*row, size), NOT_AVAILABLE) for size in sizes)] for row in rows]
    columns = (
        Column("call", right=False), Column("copy", right=False),
        *(Column(size_text(size)) for size in sizes),
    )  # fmt: skip
    held = next(each.held for each in done if each.held)
    title = f"how soon does a call return while its stream is busy for {time_text(held)}?"
    note = "waits: the call returns only when the stream is free, and blocks the host until then"
    return Table(titled(report, title), columns, [found], notes=(note,))


def _returned(probe: Asynchrony) -> str:
    return "waits" if probe.verdict == "waits for the stream" else time_text(probe.took or 0.0)


def _hazards_table(report: TransferReport) -> Table | None:
    """Hazards of acting too early, and their cures."""
    found = [
        [
            each.name, f"{each.caught} of {each.trials}",
            f"{each.cured_by_synchronize} of {each.trials}",
            f"{each.cured_by_event} of {each.trials}",
            time_text(each.cost) if each.cost else NOT_AVAILABLE,
        ]
        for each in report.hazards
        if not each.unavailable
    ]  # fmt: skip
    columns = (
        Column("hazard", right=False), Column("wrong bytes"), Column("synchronize fixes"),
        Column("event fixes"), Column("wait costs"),
    )  # fmt: skip
    return Table(titled(report, "hazards, with a busy stream"), columns, [found]) if found else None


def _pinning_table(report: TransferReport) -> Table | None:
    """Cost of page-locked memory."""
    found = [
        [
            each.memory, size_text(each.bytes), time_of(each.lock), time_of(each.touch),
            time_of(each.release), NOT_AVAILABLE if each.reuses is None else f"{each.reuses:.0f}",
        ]
        for each in report.pinning
        if not each.unavailable
    ]  # fmt: skip
    if not found:
        return None
    columns = (
        Column("memory", right=False), Column("size"), Column("lock"), Column("touch"),
        Column("release"), Column("copies to pay off"),
    )  # fmt: skip
    reasons = dict.fromkeys(each.reuses_reason for each in report.pinning if each.reuses_reason)
    return Table(
        titled(report, "cost of page-locked memory"), columns, [found], notes=tuple(reasons)
    )


def _overlap_table(report: TransferReport) -> Table | None:
    """Share of a copy that a computation hides."""
    found = [
        [
            each.memory, each.stream, each.first, size_text(each.bytes), time_of(each.copy),
            time_of(each.compute), time_of(each.both),
            NOT_AVAILABLE if each.efficiency is None else f"{each.efficiency:.0%}",
        ]
        for each in report.overlap
        if not each.unavailable
    ]  # fmt: skip
    if not found:
        return None
    columns = (
        Column("memory", right=False), Column("stream", right=False),
        Column("issued first", right=False), Column("size"), Column("copy"),
        Column("compute"), Column("both"), Column("hidden"),
    )  # fmt: skip
    note = (
        "threads that share the host's processors and memory; a GPU behaves differently"
        if report.simulated
        else "hidden: (copy + compute - both) / the shorter of the two"
    )
    return Table(titled(report, "a copy during a computation"), columns, [found], notes=(note,))


def _latency_table(report: TransferReport) -> Table | None:
    """Single small copies."""
    found = [
        [each.memory, each.direction, time_text(each.p50), time_text(each.p99 or 0.0), str(each.n)]
        for each in report.latency
        if each.p50 is not None
    ]
    if not found:
        return None
    columns = (
        Column("memory", right=False), Column("direction", right=False), Column("p50"),
        Column("p99"), Column("n"),
    )  # fmt: skip
    size = size_text(report.latency[0].bytes)
    title = f"one copy of {size}, issued and waited for"
    return Table(titled(report, title), columns, [found])


def _staging_table(report: TransferReport) -> Table | None:
    """GB/s of staging: a row for each size of a buffer, a column for each number of threads."""
    rates = {
        (each.chunk, each.threads): each.gbps for each in report.staging if each.gbps is not None
    }
    if not rates:
        return None
    threads = sorted({count for _, count in rates})
    found = [
        [size_text(chunk), *(rate_text(rates.get((chunk, count)) or 0.0) for count in threads)]
        for chunk in sorted({chunk for chunk, _ in rates})
    ]
    names = [f"{count} thread{'s' if count > 1 else ''}" for count in threads]
    columns = (Column("pieces of"), *map(Column, names))
    size = size_text(report.staging[0].bytes)
    title = f"GB/s for {size} of pageable memory, sent through two pinned buffers"
    return Table(titled(report, title), columns, [found])


def _nodes_table(report: TransferReport) -> Table | None:
    """The same copies from each NUMA node."""
    where = {True: "near the device", False: "far", None: ""}
    found = [
        [
            str(each.node), where[each.near], each.memory, each.direction, size_text(each.bytes),
            time_of(each.done), rate_text(each.gbps) if each.gbps else NOT_AVAILABLE,
        ]
        for each in report.nodes
        if not each.unavailable
    ]  # fmt: skip
    if not found:
        return None
    columns = (
        Column("node"), Column("", right=False), Column("memory", right=False),
        Column("direction", right=False), Column("size"), Column("done"), Column("GB/s"),
    )  # fmt: skip
    return Table(titled(report, "by NUMA node"), columns, [found])


def _changes_table(report: TransferReport) -> Table | None:
    """Changes since an earlier run."""
    if not report.changes:
        return None
    found = [
        [
            each.id, time_text(each.before), time_text(each.after), f"{each.ratio.value:.2f}",
            f"{each.ratio.low:.2f}-{each.ratio.high:.2f}",
            "REGRESSED" if each.regressed else each.ratio.verdict,
        ]
        for each in report.changes
    ]  # fmt: skip
    columns = (
        Column("cell", right=False), Column("before", wide_only=True),
        Column("after", wide_only=True), Column("ratio"), Column("95%"),
        Column("", right=False),
    )  # fmt: skip
    return Table(titled(report, "compared with the earlier run"), columns, [found])


_ALL: tuple[Callable[[TransferReport], Table | None], ...] = (
    _rows_table, _fits_table, _latency_table, _asynchrony_table, _hazards_table, _pinning_table,
    _staging_table, _overlap_table, _nodes_table, _changes_table,
)  # fmt: skip


def tables(report: TransferReport) -> Iterator[Table]:
    """All tables of a report that are not empty."""
    yield from _cell_tables(report)
    for make in _ALL:
        table = make(report)
        if table is not None:
            yield table
