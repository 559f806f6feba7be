"""Texts of a report other than its tables: header, advice, missing results, the last line."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from gradtool.measure.units import rate_text, size_text, time_text
from gradtool.report.transfer.tables import NOT_AVAILABLE
from gradtool.results.transfer import NodeRate, Requirement, TransferReport
from gradtool.spelling import plural

_MOST_NAMED = 6
"""Number of names before the rest that shares a reason is only counted."""


def not_measured(report: TransferReport) -> Iterator[str]:
    """The reasons for missing numbers, each with the cells and probes that it affects."""
    affected: dict[str, dict[str, int]] = {}
    for name, reason in _reasons(report):
        names = affected.setdefault(reason, {})
        names[name] = names.get(name, 0) + 1
    for reason, names in affected.items():
        listed = [
            name if count == 1 else f"{name} ({count} cells)"
            for name, count in itertools.islice(names.items(), _MOST_NAMED)
        ]
        if len(names) > _MOST_NAMED:
            others = sum(itertools.islice(names.values(), _MOST_NAMED, None))
            listed.append(f"and {others} more")
        yield f"{', '.join(listed)}: {reason}"


def _reasons(report: TransferReport) -> Iterator[tuple[str, str]]:
    for cell in report.cells:
        if cell.unavailable:
            name = f"{cell.scenario} {cell.direction}"
            yield f"{cell.row} {name}" if cell.row else name, cell.unavailable
    others: tuple[tuple[str, Iterable[object]], ...] = (
        ("fit of", report.fits), ("asynchrony of", report.asynchrony),
        ("hazard", report.hazards), ("pinning cost of", report.pinning),
        ("latency of", report.latency), ("staging", report.staging),
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
    names = ("call", "scenario", "memory", "name", "direction", "mode")
    parts = (getattr(record, name, "") for name in names)
    return " ".join(part for part in parts if part)


def advice_lines(report: TransferReport) -> list[str]:
    """The advice, with the rows that each sentence rests on."""
    return [
        f"{each.text} [{' vs '.join(each.rests_on)}]" if each.rests_on else each.text
        for each in report.advice
    ]


def regressions(report: TransferReport) -> list[str]:
    """The cells that are slower than in the earlier run."""
    return [
        f"{each.id}: {time_text(each.after)}, was {time_text(each.before)}"
        f" ({each.ratio.value:.2f} times as long, 95%: {each.ratio.low:.2f}-{each.ratio.high:.2f})"
        for each in report.changes
        if each.regressed
    ]


def requirement_mark(requirement: Requirement) -> str:
    """``met``, ``NOT MET`` or ``NOT DECIDED``."""
    if not requirement.decided:
        return "NOT DECIDED"
    return "met" if requirement.met else "NOT MET"


def requirement_lines(report: TransferReport) -> list[str]:
    """The verdict on each requirement."""
    return [
        f"{requirement_mark(each)}: {each.text} ({each.reason})" for each in report.requirements
    ]


def last_line(report: TransferReport) -> str:
    """A summary: measured cells, missing cells, requirements, changes."""
    measured = sum(1 for cell in report.cells if cell.done)
    missing = len(report.cells) - measured
    lead = "interrupted: " if report.interrupted else ""
    cells = plural(measured, "cell")
    text = f"{lead}{cells} measured in {report.seconds:.1f} s; not measured: {missing}"
    if report.requirements:
        met = sum(each.met for each in report.requirements)
        text += f"; requirements met: {met} of {len(report.requirements)}"
    if report.changes:
        text += f"; regressed: {sum(change.regressed for change in report.changes)}"
        text += f" of {len(report.changes)}"
    return f"SIMULATED: {text}" if report.simulated else text


def header_lines(report: TransferReport) -> Iterator[str]:
    """The device, the host and the link of the run."""
    header = report.header
    parts = [
        f"gradtool {header.gradtool}", f"NumPy {header.numpy}", f"Python {header.python}",
        header.cupy and f"CuPy {header.cupy}", header.driver and f"driver {header.driver}",
        header.runtime and f"runtime {header.runtime}",
    ]  # fmt: skip
    yield f"{header.device}: " + ", ".join(part for part in parts if part)
    host = [
        header.cpu, header.cpus and f"{plural(header.cpus, 'processor')} usable",
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
    """The link as text."""
    link = report.link
    if link.gbps is None:
        return (
            link.unknown if link.unknown.startswith(NOT_AVAILABLE) else f"unknown: {link.unknown}"
        )
    raw = f"raw {rate_text(link.gbps)} GB/s each way"
    return f"PCIe generation {link.generation} x{link.width}, {raw} (by {link.source}, under load)"
