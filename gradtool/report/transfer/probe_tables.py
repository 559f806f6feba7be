"""The tables beside those of the cells: rows of a configuration, fits, probes, comparisons."""

from __future__ import annotations

from collections.abc import Callable

from gradtool.measure.units import rate_text, size_text, time_text
from gradtool.report.tabular import Column, Table
from gradtool.report.transfer.tables import (
    NOT_AVAILABLE,
    marks,
    optional_size,
    shape_text,
    spread_text,
    time_of,
    titled,
)
from gradtool.results.transfer import TransferReport


def rows(report: TransferReport) -> Table | None:
    """The rows that a configuration asked for, beside what it says was measured elsewhere."""
    cells = [cell for cell in report.cells if cell.row]
    if not cells:
        return None
    found = [
        [
            cell.row, cell.label, shape_text(cell), time_of(cell.call), time_of(cell.done),
            spread_text(cell.done) if cell.done else NOT_AVAILABLE,
            str(cell.done.n) if cell.done else "0",
            time_text(cell.published) if cell.published else "", marks(cell),
        ]
        for cell in cells
    ]  # fmt: skip
    columns = (
        Column("row", right=False), Column("scenario", right=False, wide_only=True),
        Column("size"), Column("call", wide_only=True), Column("done"),
        Column("p25-p75", wide_only=True), Column("n"), Column("published"),
        Column("", right=False),
    )  # fmt: skip
    return Table(titled(report, "rows of the configuration"), columns, [found])


def fits(report: TransferReport) -> Table | None:
    """Latency and bandwidth of each way of copying."""
    usable = [fit for fit in report.fits if not fit.unavailable]
    if not usable:
        return None
    found = [
        [
            fit.label, fit.direction, fit.mode, time_text(fit.latency or 0.0),
            rate_text(fit.gbps or 0.0), optional_size(fit.half_size), f"{fit.worst or 0.0:.0%}",
            str(fit.sizes),
        ]
        for fit in usable
    ]  # fmt: skip
    columns = (
        Column("scenario", right=False), Column("direction", right=False),
        Column("mode", right=False), Column("latency"), Column("GB/s"),
        Column("half at"), Column("worst"), Column("sizes"),
    )  # fmt: skip
    note = "time = latency + size / bandwidth, by relative least squares; half of it at that size"
    return Table(titled(report, "latency and bandwidth"), columns, [found], notes=(note,))


def asynchrony(report: TransferReport) -> Table | None:
    """Which calls return while their stream stands still."""
    found = [
        [
            each.call, each.memory, each.direction, size_text(each.bytes),
            time_text(each.took or 0.0), each.verdict,
        ]
        for each in report.asynchrony
        if each.verdict
    ]  # fmt: skip
    if not found:
        return None
    held = next(each.held for each in report.asynchrony if each.held)
    columns = (
        Column("call", right=False), Column("memory", right=False),
        Column("direction", right=False), Column("size"), Column("took"),
        Column("verdict", right=False),
    )  # fmt: skip
    title = f"does the call return while its stream is held for {time_text(held)}?"
    return Table(titled(report, title), columns, [found])


def hazards(report: TransferReport) -> Table | None:
    """What goes wrong too early, and what makes it right."""
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
        Column("hazard", right=False), Column("wrong bytes"), Column("synchronize cures"),
        Column("event cures"), Column("wait costs"),
    )  # fmt: skip
    return Table(titled(report, "hazards, on a held stream"), columns, [found]) if found else None


def pinning(report: TransferReport) -> Table | None:
    """What page-locked memory costs."""
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
        Column("release"), Column("pays after copies"),
    )  # fmt: skip
    reasons = dict.fromkeys(each.reuses_reason for each in report.pinning if each.reuses_reason)
    return Table(
        titled(report, "cost of page-locked memory"), columns, [found], notes=tuple(reasons)
    )


def overlap(report: TransferReport) -> Table | None:
    """How much of a copy hides behind a computation."""
    found = [
        [
            each.memory, each.stream, size_text(each.bytes), time_of(each.copy),
            time_of(each.compute), time_of(each.both),
            NOT_AVAILABLE if each.efficiency is None else f"{each.efficiency:.0%}",
        ]
        for each in report.overlap
        if not each.unavailable
    ]  # fmt: skip
    if not found:
        return None
    columns = (
        Column("memory", right=False), Column("stream", right=False), Column("size"),
        Column("copy"), Column("compute"), Column("both"), Column("hidden"),
    )  # fmt: skip
    note = (
        "threads that share the host's processors and memory; it says nothing of a GPU"
        if report.simulated
        else "hidden: (copy + compute - both) / the shorter of the two"
    )
    return Table(titled(report, "a copy beside a computation"), columns, [found], notes=(note,))


def nodes(report: TransferReport) -> Table | None:
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


def changes(report: TransferReport) -> Table | None:
    """This run beside an earlier one."""
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
        Column("after", wide_only=True), Column("ratio"), Column("95 %"),
        Column("", right=False),
    )  # fmt: skip
    return Table(titled(report, "beside the earlier run"), columns, [found])


ALL: tuple[Callable[[TransferReport], Table | None], ...] = (
    rows, fits, asynchrony, hazards, pinning, overlap, nodes, changes,
)  # fmt: skip
