"""What a report shows, as tables of text that every renderer sets in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradtool.measure.summary import Summary
from gradtool.measure.units import about, rate_text, size_text, time_text
from gradtool.report.tabular import Column, Table
from gradtool.results.transfer import Cell, NodeRate, TransferReport

SIMULATED = "SIMULATED (host memcpy; no PCIe, no DMA)"
"""How the title of every table begins where host memory stood in for a device."""

NOT_AVAILABLE = "n/a"

DIRECTIONS = {
    "h2d": "host to device",
    "d2h": "device to host",
    "d2d": "within the device",
    "duplex": "both directions at once, in sum",
}


def tables(report: TransferReport) -> Iterator[Table]:
    """All tables that a report has something for."""
    from gradtool.report.transfer import probe_tables as other_tables

    yield from _cell_tables(report)
    for make in other_tables.ALL:
        table = make(report)
        if table is not None:
            yield table


def titled(report: TransferReport, title: str) -> str:
    """A table's title, which says so where it is not about a device."""
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
    Column("link", wide_only=True),
    Column("", right=False),
)

LEGEND = (
    "call: the host is busy issuing; done: complete on the host's clock; device: between two "
    "events; medians of n samples. ~ noisy, ! too noisy to use, c may stay in the host's caches."
)


def _cell_tables(report: TransferReport) -> Iterator[Table]:
    """One table for each direction, its rows in groups of one size."""
    for direction, title in DIRECTIONS.items():
        cells = [
            cell
            for cell in report.cells
            if cell.direction == direction and not cell.row and cell.done
        ]
        if cells:
            grouped = [
                [cell for cell in cells if _shape(cell) == shape]
                for shape in sorted({_shape(cell) for cell in cells})
            ]
            groups = [[_cell_row(cell) for cell in group] for group in grouped]
            names = [shape_text(group[0]) for group in grouped]
            yield Table(titled(report, title), _CELL_COLUMNS, groups, names, (LEGEND,))


def _shape(cell: Cell) -> tuple[bool, int, int]:
    return cell.tensors > 1, cell.bytes, cell.tensors


def _cell_row(cell: Cell) -> list[str]:
    assert cell.done is not None
    return [
        cell.label,
        cell.mode,
        shape_text(cell),
        time_of(cell.call),
        time_of(cell.done),
        spread_text(cell.done),
        f"{min(cell.done.relative_iqr, 9.99):.0%}",
        time_of(cell.device),
        str(cell.done.n),
        rate_text(cell.gbps) if cell.gbps else NOT_AVAILABLE,
        NOT_AVAILABLE if cell.link_share is None else f"{cell.link_share:.0%}",
        marks(cell),
    ]


def shape_text(cell: Cell) -> str:
    """``64 MiB``, or ``1000 x 4 kB``."""
    size = size_text(cell.bytes)
    return f"{cell.tensors} x {size}" if cell.tensors > 1 else size


def time_of(summary: Summary | None) -> str:
    """The median, if there is one."""
    return NOT_AVAILABLE if summary is None else time_text(summary.median)


def spread_text(summary: Summary) -> str:
    """``12.1-12.9 us``: the quartiles, in one unit where they share it."""
    low, high = time_text(summary.p25), time_text(summary.p75)
    number, _, unit = low.partition(" ")
    return f"{number}-{high}" if high.endswith(f" {unit}") else f"{low}-{high}"


def marks(cell: Cell) -> str:
    """What to mind about a cell, in signs."""
    trust = {"noisy": "~", "do not use": "!"}.get(cell.done.trust if cell.done else "", "")
    return trust + ("c" if cell.cache_hot else "")


def not_measured(report: TransferReport) -> Iterator[str]:
    """The reasons why numbers are missing, each with what it is about."""
    about_of: dict[str, dict[str, int]] = {}
    for name, reason in _reasons(report):
        names = about_of.setdefault(reason, {})
        names[name] = names.get(name, 0) + 1
    for reason, names in about_of.items():
        told = ", ".join(
            name if count == 1 else f"{name} ({count} cells)" for name, count in names.items()
        )
        yield f"{told}: {reason}"


def _reasons(report: TransferReport) -> Iterator[tuple[str, str]]:
    for cell in report.cells:
        if cell.unavailable:
            yield cell.row or f"{cell.label} {cell.direction}", cell.unavailable
    others: tuple[tuple[str, Iterable[object]], ...] = (
        ("fit of", report.fits), ("asynchrony of", report.asynchrony),
        ("hazard", report.hazards), ("pinning cost of", report.pinning),
        ("overlap of", report.overlap), ("copies by NUMA node", report.nodes),
    )  # fmt: skip
    for kind, records in others:
        for record in records:
            reason = getattr(record, "unavailable", "")
            if reason:
                yield f"{kind} {_name(record)}".strip(), reason


def _name(record: object) -> str:
    if isinstance(record, NodeRate):
        return "" if record.node is None else str(record.node)
    names = ("call", "label", "memory", "name", "direction", "mode")
    parts = (getattr(record, name, "") for name in names)
    return " ".join(part for part in parts if part)


def advice_lines(report: TransferReport) -> list[str]:
    """What to do, each with the rows that it rests on."""
    return [
        f"{each.text} [{' beside '.join(each.rests_on)}]" if each.rests_on else each.text
        for each in report.advice
    ]


def last_line(report: TransferReport) -> str:
    """How much was measured, and how much was not."""
    measured = sum(1 for cell in report.cells if cell.done)
    missing = len(report.cells) - measured
    lead = "interrupted: " if report.interrupted else ""
    told = f"{lead}{measured} cells measured in {report.seconds:.1f} s; not measured: {missing}"
    if report.requirements:
        met = sum(each.met for each in report.requirements)
        told += f"; requirements met: {met} of {len(report.requirements)}"
    if report.changes:
        told += f"; regressed: {sum(change.regressed for change in report.changes)}"
        told += f" of {len(report.changes)}"
    return f"SIMULATED: {told}" if report.simulated else told


def header_lines(report: TransferReport) -> Iterator[str]:
    """What was measured on."""
    header = report.header
    parts = [
        f"gradtool {header.gradtool}", f"NumPy {header.numpy}", f"Python {header.python}",
        header.cupy and f"CuPy {header.cupy}", header.driver and f"driver {header.driver}",
        header.runtime and f"runtime {header.runtime}",
    ]  # fmt: skip
    yield f"{header.device}: " + ", ".join(part for part in parts if part)
    host = [
        header.cpu, header.cpus and f"{header.cpus} processors usable",
        header.cache and f"last-level cache {size_text(header.cache)}",
        None if header.numa_node is None else f"NUMA node {header.numa_node}",
        header.container and f"in {header.container}",
        header.governor and f"governor {header.governor}", header.clocks,
        "no limit on locked memory" if header.lock_limit is None
        else f"lock limit {size_text(header.lock_limit)}" if header.lock_limit
        else "no memory may be locked",
    ]  # fmt: skip
    yield ", ".join(part for part in host if part)
    yield f"link: {link_text(report)}"


def link_text(report: TransferReport) -> str:
    """The link for people."""
    link = report.link
    if link.gbps is None:
        return (
            link.unknown if link.unknown.startswith(NOT_AVAILABLE) else f"unknown: {link.unknown}"
        )
    raw = f"raw {rate_text(link.gbps)} GB/s each way"
    return f"PCIe generation {link.generation} x{link.width}, {raw} (by {link.source}, under load)"


def optional_size(size: float | None) -> str:
    """A size of which the order matters, if there is one."""
    return NOT_AVAILABLE if size is None else about(size)
