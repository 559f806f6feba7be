"""Thresholds for CI: ``pinned.h2d.gbps >= 0.8*link``, ``engine.h2d.done_us <= 200``.

A side is a number, ``link``, or ``scenario.direction[.mode].metric``, each with an optional
factor. A threshold applies to the largest size that was measured, in every mode, and is met only
if it holds for all of them. One cell that fails it decides; otherwise a cell without a number, or
with one that cannot be trusted, leaves it undecided.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from gradtool.results.transfer import Cell, Requirement, TransferReport
from gradtool.transfer.analysis.changes import (
    compared,
    load_report,
    parse_share,
    require_comparable,
)
from gradtool.transfer.errors import TransferError

METRICS: dict[str, Callable[[Cell], float | None]] = {
    "gbps": lambda cell: cell.gbps,
    "device_gbps": lambda cell: cell.device_gbps,
    "link_share": lambda cell: cell.link_share,
    "call_us": lambda cell: cell.call.median * 1e6 if cell.call else None,
    "done_us": lambda cell: cell.done.median * 1e6 if cell.done else None,
    "device_us": lambda cell: cell.device.median * 1e6 if cell.device else None,
    "host_freed": lambda cell: cell.host_freed,
}
"""Metrics of a cell; times in microseconds."""

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip

_NUMBER = r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_SIDE = re.compile(
    rf"(?:(?P<factor>{_NUMBER})\s*\*\s*)?(?P<name>[a-z][\w.-]*)|(?P<number>{_NUMBER})"
)


@dataclass(frozen=True)
class Side:
    """One side of a comparison."""

    factor: float
    name: str
    """Empty for a number, ``link``, or ``scenario.direction[.mode]``."""
    metric: str = ""

    def matches(self, cell: Cell) -> bool:
        """Return True if it names this cell."""
        ways = f"{cell.scenario}.{cell.direction}", f"{cell.scenario}.{cell.direction}.{cell.mode}"
        return not cell.row and self.name in ways


@dataclass(frozen=True)
class Threshold:
    """A requirement, parsed."""

    text: str
    left: Side
    sign: str
    right: Side


def parse(text: str) -> Threshold:
    """Parse a requirement.

    Raises:
        TransferError: It has not the form of one.
    """
    parts = re.fullmatch(r"\s*(.+?)\s*(>=|<=|>|<)\s*(.+?)\s*", text)
    if parts is None:
        raise TransferError(
            f"--require {text!r}: write it as in 'pinned.h2d.gbps >= 0.8*link', with one of "
            f"{', '.join(_SIGNS)}"
        )
    left, right = _side(parts[1], text), _side(parts[3], text)
    if not left.metric:
        raise TransferError(f"--require {text!r}: the left side must name a cell's metric")
    return Threshold(text.strip(), left, parts[2], right)


def _side(text: str, whole: str) -> Side:
    match = _SIDE.fullmatch(text)
    if match is None:
        raise TransferError(f"--require {whole!r}: {text!r} is neither a number nor a metric")
    if match["number"]:
        return Side(float(match["number"]), "")
    factor = float(match["factor"] or 1)
    if match["name"] == "link":
        return Side(factor, "link")
    name, _, metric = match["name"].rpartition(".")
    if metric not in METRICS:
        known = ", ".join(METRICS)
        raise TransferError(f"--require {whole!r}: unknown metric {metric!r} (known: {known})")
    return Side(factor, name, metric)


def require_decidable(
    thresholds: Sequence[Threshold], cells: Sequence[Cell], *, simulated: bool
) -> None:
    """Refuse before the run what it could never decide.

    Raises:
        TransferError: no cell of the run is meant, or there is no link.
    """
    for threshold in thresholds:
        for side in (threshold.left, threshold.right):
            if side.name == "link" and simulated:
                raise TransferError(
                    f"--require {threshold.text!r}: there is no link without a device"
                )
            if side.metric and not any(side.matches(cell) for cell in cells):
                raise TransferError(
                    f"--require {threshold.text!r}: this run measures no {side.name!r}"
                )


def decide(threshold: Threshold, report: TransferReport) -> Requirement:
    """Decide whether a report meets a requirement."""
    matching = [cell for cell in report.cells if threshold.left.matches(cell)]
    largest = max((cell.total for cell in matching), default=0)
    answers = [_holds(threshold, cell, report) for cell in matching if cell.total == largest]
    verdict = _combined([holds for holds, _ in answers])
    reasons = [reason for holds, reason in answers if holds is verdict] or ["no such cell"]
    return Requirement(
        text=threshold.text, met=verdict is True, decided=verdict is not None,
        reason="; ".join(dict.fromkeys(reasons)),
    )  # fmt: skip


def _combined(answers: Sequence[bool | None]) -> bool | None:
    """False if one cell fails it; None if one leaves it undecided, or there is none."""
    if False in answers:
        return False
    return None if None in answers or not answers else True


def _holds(threshold: Threshold, cell: Cell, report: TransferReport) -> tuple[bool | None, str]:
    left, why_not = _value(threshold.left, cell, report)
    right, why_not_right = _value(threshold.right, cell, report)
    if left is None or right is None:
        return None, f"{cell.id}: {why_not or why_not_right}"
    holds = _SIGNS[threshold.sign](left, right)
    return (
        holds,
        f"{cell.id}: {left:.4g} {threshold.sign} {right:.4g} {'holds' if holds else 'fails'}",
    )


def _value(side: Side, cell: Cell, report: TransferReport) -> tuple[float | None, str]:
    """The side's value for a cell of the left side, or None with the reason."""
    if side.name == "link":
        link = report.link.gbps
        return (None, "the link's rate is unknown") if link is None else (side.factor * link, "")
    if not side.metric:
        return side.factor, ""
    meant = cell if side.matches(cell) else _counterpart(side, cell, report)
    if meant is None:
        return None, f"{side.name} was not measured at that size and in that mode"
    if meant.doubt:
        return None, meant.doubt
    found = METRICS[side.metric](meant)
    if found is None:
        return None, f"it has no {side.metric}"
    return side.factor * found, ""


def _counterpart(side: Side, cell: Cell, report: TransferReport) -> Cell | None:
    """The cell of the right side that belongs to one of the left: of its size, and mode."""
    same = [
        other
        for other in report.cells
        if side.matches(other) and (other.tensors, other.bytes) == (cell.tensors, cell.bytes)
    ]
    return next((other for other in same if other.mode == cell.mode), same[0] if same else None)


@dataclass(frozen=True)
class Requirements:
    """Everything a run has to satisfy, parsed before anything is measured."""

    earlier: TransferReport | None
    limit: float
    thresholds: Sequence[Threshold]

    @classmethod
    def read(cls, compare: str | None, limit: str, texts: Sequence[str]) -> Requirements:
        """Parse the flags.

        Raises:
            TransferError: One of them cannot be parsed, or the earlier report not be read.
        """
        return cls(
            load_report(compare) if compare is not None else None,
            parse_share(limit),
            tuple(parse(text) for text in texts),
        )

    def require_decidable(self, cells: Sequence[Cell], simulated: bool) -> None:
        """Refuse, before the run, what it could not decide; raises TransferError."""
        require_decidable(self.thresholds, cells, simulated=simulated)
        if self.earlier is not None:
            require_comparable(self.earlier, simulated=simulated)

    def apply(self, report: TransferReport) -> TransferReport:
        """Add the verdict on each requirement, and the changes, to a report."""
        met = tuple(decide(threshold, report) for threshold in self.thresholds)
        report = replace(report, requirements=met)
        return report if self.earlier is None else compared(report, self.earlier, self.limit)

    def compared_nothing(self, report: TransferReport) -> bool:
        """Return True if a comparison was requested that found nothing to compare."""
        return self.earlier is not None and not report.changes
