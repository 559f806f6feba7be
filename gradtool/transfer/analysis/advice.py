"""Advice in plain sentences, each with the records that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gradtool.measure.bootstrap import ratio
from gradtool.measure.summary import Ratio
from gradtool.measure.units import rate_text, size_text, time_text
from gradtool.results.transfer import Advice, Asynchrony, Cell, NodeRate, TransferReport
from gradtool.spelling import plural
from gradtool.transfer.analysis.best_way import best_way
from gradtool.transfer.analysis.claims import CLAIMS, Claim

NO_DEVICE = "Advice about a GPU: n/a, since none was measured."

_LOW_SHARE = 0.7
"""Share of the link's raw rate that pinned copies should reach: packet headers cost about 12%."""

_FAR = 0.95
"""Share of the near node's rate below which a far node is worth advice."""

_GOOD_OVERLAP = 0.5

_OVERLAPS = (
    "Copy {memory} memory on a separate stream during computations: this hides {share} of the "
    "copy or the computation, whichever is shorter."
)
_DOES_NOT_OVERLAP = "A separate stream hides only {share} of a copy of {memory} memory."


def advise(report: TransferReport) -> tuple[Advice, ...]:
    """All advice that the numbers of a report support."""
    found = [*best_way(report)]
    found += [advice for claim in CLAIMS for advice in _of_claim(claim, report)]
    if report.simulated:
        return (*found, Advice(text=NO_DEVICE))
    for more in (_reuses, _hazards, _asynchrony, _overlap, _nodes, _link):
        source: Callable[[TransferReport], Iterator[Advice]] = more
        found += source(report)
    return tuple(found)


def _of_claim(claim: Claim, report: TransferReport) -> Iterator[Advice]:
    if report.simulated and not claim.about_host:
        return
    sides = [way(report.cells, name, many=claim.many) for name in (claim.way, claim.other)]
    found = compare(*sides)
    if found is not None and found.verdict != "cannot tell":
        yield _sentence(claim, found)


def _sentence(claim: Claim, found: Comparison) -> Advice:
    if found.verdict == "no difference":
        size = size_text(found.cells[-1].total)
        text = (
            f"{claim.same} (Measured at {size}, where a difference of "
            f"{found.ratios[-1].resolution:.0%} would have been detected.)"
        )
        return Advice(text=text, rests_on=found.rests_on)
    words = claim.faster if found.verdict == "faster" else claim.slower
    text = words.format(x=f"{found.factor:.2g}", size=size_text(found.since))
    return Advice(text=text, rests_on=found.rests_on, from_size=found.since)


def _reuses(report: TransferReport) -> Iterator[Advice]:
    known = [cost for cost in report.pinning if cost.reuses is not None]
    if known:
        cost = known[-1]
        size, copies = size_text(cost.bytes), plural(round(cost.reuses or 0), "copy", "copies")
        yield Advice(
            text=f"{size} of {cost.memory} memory pays for itself after {copies}.",
            rests_on=(f"pinning {cost.memory} {size}",),
            from_size=cost.bytes,
        )


def _hazards(report: TransferReport) -> Iterator[Advice]:
    sentences = {
        "d2h-read-too-early": "Wait for the stream, or for an event, before reading data "
        "that non_blocking=True copies to the host: without waiting, old bytes were read in "
        "{caught} of {trials} trials",
        "h2d-overwrite-too-early": "Do not write to a pinned buffer until the copy from it is "
        "done: newer bytes were sent in {caught} of {trials} trials",
        "h2d-recycled-too-early": "Keep a pinned buffer until the copy from it is done: its memory "
        "was reused, and newer bytes were sent in {caught} of {trials} trials",
    }
    for hazard in report.hazards:
        if hazard.caught and hazard.name in sentences:
            words = sentences[hazard.name].format(caught=hazard.caught, trials=hazard.trials)
            cost = (
                "" if hazard.cost is None else f"; the wait itself costs {time_text(hazard.cost)}"
            )
            yield Advice(text=f"{words}{cost}.", rests_on=(f"hazard {hazard.name}",))


def _asynchrony(report: TransferReport) -> Iterator[Advice]:
    ways = {"h2d": "from {} memory to the device", "d2h": "from the device to {} memory"}
    waits: dict[tuple[str, str], list[Asynchrony]] = {}
    for probe in report.asynchrony:
        if probe.verdict == "waits for the stream":
            waits.setdefault((probe.call, probe.direction), []).append(probe)
    for (call, direction), found in waits.items():
        first = min(found, key=lambda probe: probe.bytes)
        yield Advice(
            text=f"{call} blocks the host when it copies {size_text(first.bytes)} or more "
            f"{ways[direction].format(first.memory)}: it waits for the stream.",
            rests_on=(f"asynchrony {call} {first.memory} {direction}",),
            from_size=first.bytes,
        )


def _overlap(report: TransferReport) -> Iterator[Advice]:
    hidden: dict[str, dict[str, float]] = {}
    for found in report.overlap:
        if found.stream == "side stream" and found.efficiency is not None:
            hidden.setdefault(found.memory, {})[found.first] = found.efficiency
    for memory, by_first in hidden.items():
        first, share = max(by_first.items(), key=lambda each: each[1])
        words = _OVERLAPS if share >= _GOOD_OVERLAP else _DOES_NOT_OVERLAP
        text = words.format(memory=memory, share=f"{share:.0%}")
        if share >= _GOOD_OVERLAP > min(by_first.values()):
            text += f" Issue the {first} first: in the other order they do not overlap."
        yield Advice(text=text, rests_on=(f"overlap {memory} side stream",))


def _nodes(report: TransferReport) -> Iterator[Advice]:
    """Compare the node with the slowest pinned copies with the one that the device belongs to."""
    for direction in ("h2d", "d2h"):
        rated: list[tuple[float, NodeRate]] = [
            (each.gbps, each)
            for each in report.nodes
            if each.direction == direction and each.memory == "pinned" and each.gbps is not None
        ]
        near = [rate for rate, each in rated if each.near]
        if not near or len(rated) < 2:
            continue
        slowest, where = min(rated, key=lambda entry: entry[0])
        if slowest < _FAR * near[0]:
            yield Advice(
                text=f"Run on the device's NUMA node: from node {where.node}, pinned "
                f"{direction} copies reach only {slowest / near[0]:.0%} of that node's rate.",
                rests_on=(f"NUMA node {where.node} pinned {direction}",),
                from_size=where.bytes,
            )


def _link(report: TransferReport) -> Iterator[Advice]:
    for direction in ("h2d", "d2h"):
        cells: Sequence[Cell] = way(report.cells, f"pinned.{direction}.non_blocking")
        share = cells[-1].link_share if cells else None
        if share is not None and share < _LOW_SHARE and report.link.gbps is not None:
            yield Advice(
                text=f"Pinned {direction} copies reach {share:.0%} of the link's "
                f"{rate_text(report.link.gbps)} GB/s: check whether the process runs on the "
                "device's NUMA node, and whether other processes are using the link.",
                rests_on=(cells[-1].id,),
            )


@dataclass(frozen=True)
class Comparison:
    """A way of copying compared with another, from small to large sizes."""

    cells: Sequence[Cell]
    """Of the first way."""
    others: Sequence[Cell]
    ratios: Sequence[Ratio]
    """Of the times: below 1 the first way is faster."""

    @property
    def verdict(self) -> str:
        """``faster``, ``slower``, ``no difference`` or ``cannot tell`` at the largest size."""
        return self.ratios[-1].verdict

    @property
    def since(self) -> int:
        """Bytes of the smallest copy from which on the verdict is the same."""
        size = self.cells[-1].total
        for cell, found in zip(reversed(self.cells), reversed(self.ratios), strict=True):
            if found.verdict != self.verdict:
                break
            size = cell.total
        return size

    @property
    def factor(self) -> float:
        """The factor by which it is faster, or slower, at the largest size."""
        value = self.ratios[-1].value
        return 1 / value if value < 1 else value

    @property
    def rests_on(self) -> tuple[str, ...]:
        """The cells that the verdict rests on."""
        return self.cells[-1].id, self.others[-1].id


def way(cells: Sequence[Cell], name: str, *, many: bool = False) -> list[Cell]:
    """The measured cells of ``scenario.direction.mode``, one buffer or many tensors, by size.

    Cells whose times scatter too much to be used are left out.
    """
    found = [
        cell
        for cell in cells
        if cell.id.partition("[")[0] == name
        and not cell.row
        and (cell.tensors > 1) == many
        and not cell.doubt
    ]
    return sorted(found, key=lambda cell: cell.total)


def compare(cells: Sequence[Cell], others: Sequence[Cell]) -> Comparison | None:
    """Compare two ways at the sizes that both have; None if there are none."""
    by_shape = {(cell.tensors, cell.bytes): cell for cell in others}
    pairs = [
        (cell, by_shape[cell.tensors, cell.bytes])
        for cell in cells
        if (cell.tensors, cell.bytes) in by_shape
    ]
    if not pairs:
        return None
    ratios = [ratio(cell.samples, other.samples) for cell, other in pairs]
    return Comparison([cell for cell, _ in pairs], [other for _, other in pairs], ratios)
