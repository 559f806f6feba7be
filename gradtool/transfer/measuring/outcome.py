"""From the samples of a cell to its record, with the checks that can refuse it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from gradtool.measure.bootstrap import ratio
from gradtool.measure.summary import summarize
from gradtool.measure.units import rate_text, time_text
from gradtool.results.transfer import Cell
from gradtool.transfer.measuring.timing import Times

KEPT = 200
"""Samples that a record keeps at most."""

NOT_REACHED = "not measured: the time was up before its first sample"


@dataclass(frozen=True)
class Outcome:
    """What a cell's measurement came to."""

    samples: Sequence[Times]
    doubled: Sequence[Times]
    """Samples of twice as many runs, which only the check of stability looks at."""
    runs: int
    verified: bool
    cache_hot: bool
    marked: bool
    """Whether the time between events means something."""
    problem: str

    def record(self, cell: Cell, link: float | None) -> Cell:
        """The cell with its numbers, or with the reason why it has none."""
        reason = self.problem or self._impossible() or ("" if self.samples else NOT_REACHED)
        if reason:
            return msgspec.structs.replace(cell, unavailable=reason)
        filled = self._filled(cell)
        return _with_share(filled, link)

    def _impossible(self) -> str:
        if not self.verified:
            return NOT_VERIFIED
        return impossible_times([*self.samples, *self.doubled]) or unstable(
            self.samples, self.doubled
        )

    def _filled(self, cell: Cell) -> Cell:
        done = [times.done for times in self.samples]
        summaries = {"call": [times.call for times in self.samples], "done": done}
        if self.marked and not cell.host_only:
            summaries["device"] = [times.device for times in self.samples]
        found = {name: summarize(values) for name, values in summaries.items()}
        rates = {
            name: rate(cell, found[name].median) for name in ("done", "device") if name in found
        }
        return msgspec.structs.replace(
            cell,
            **found,
            batch=self.runs,
            samples=tuple(done[-KEPT:]),
            gbps=rates["done"],
            device_gbps=rates.get("device"),
            verified=True,
            cache_hot=self.cache_hot,
        )


def rate(cell: Cell, seconds: float) -> float | None:
    """GB/s of both directions together, if there was time that passed."""
    return cell.moved / seconds / 1e9 if seconds > 0 else None


def _with_share(cell: Cell, link: float | None) -> Cell:
    """The cell with its share of the link; without numbers if that cannot be."""
    if link is None or cell.direction == "d2d" or cell.host_only:
        return cell
    room = link * (2 if cell.direction == "duplex" else 1)
    reason = impossible_rate(cell.gbps or 0.0, room)
    if reason:
        return msgspec.structs.replace(without_numbers(cell), unavailable=reason)
    share = (cell.device_gbps or cell.gbps or 0.0) / room
    return msgspec.structs.replace(cell, link_share=min(share, 1.0))


def without_numbers(cell: Cell) -> Cell:
    """The cell as it was before it was measured."""
    return msgspec.structs.replace(
        cell, call=None, done=None, device=None, samples=(), gbps=None, device_gbps=None,
        link_share=None, verified=False,
    )  # fmt: skip


LINK_SLACK = 1.01
"""How far above the link's raw rate the median of a copy may lie, for the rounding of both."""

MOST_DRIFT = 1.5
"""How far apart the times of one copy may lie, taken from batches of two sizes."""

LEAST_DOUBLED = 3
"""Samples of double size that it takes to tell."""

NOT_VERIFIED = "not shown: the bytes that arrived are not the bytes that were sent"


def impossible_times(samples: Sequence[Times]) -> str:
    """Why these times cannot be; empty if they can."""
    for times in samples:
        if times.done <= 0:
            return "not shown: the clock did not move during a copy"
        if not times.possible:
            return (
                f"not shown: device time {time_text(times.device)} above completion time "
                f"{time_text(times.envelope)}"
            )
    return ""


def unstable(samples: Sequence[Times], doubled: Sequence[Times]) -> str:
    """Why the time of one copy cannot be told from these batches; empty if it can.

    The time to completion of twice as many copies is twice as long. If not, then what is
    divided by the number of copies is not what each of them takes.
    """
    if not samples or len(doubled) < LEAST_DOUBLED:
        return ""
    found = ratio([each.done for each in doubled], [each.done for each in samples])
    if found.low <= MOST_DRIFT and found.high >= 1 / MOST_DRIFT:
        return ""
    return (
        f"not shown: of {doubled[0].runs} copies each takes {found.value:.2g} times as long as of "
        f"{samples[0].runs}"
    )


def impossible_rate(gbps: float, link: float | None) -> str:
    """Why a rate over the link cannot be; empty if it can, or the link is unknown."""
    if link is None or gbps <= link * LINK_SLACK:
        return ""
    return f"not shown: {rate_text(gbps)} GB/s is above the link's raw {rate_text(link)} GB/s"
