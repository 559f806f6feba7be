"""The record of a cell from its samples, after checks that can refuse impossible numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from gradtool.measure.bootstrap import ratio
from gradtool.measure.summary import summarize
from gradtool.measure.units import time_text
from gradtool.results.transfer import Cell
from gradtool.transfer.measuring.timing import Times

KEPT = 200
"""Samples that a record keeps at most."""

NOT_REACHED = "the budget ran out before the first sample"


@dataclass(frozen=True)
class Outcome:
    """The samples of a cell, complete."""

    samples: Sequence[Times]
    doubled: Sequence[Times]
    """Samples of twice as many runs, for the check of stability alone."""
    runs: int
    verified: bool
    cache_hot: bool
    marked: bool
    """The time between events is meaningful."""
    problem: str

    def record(self, cell: Cell) -> Cell:
        """The cell with its numbers, or with the reason that it has none."""
        reason = self.problem or self._refusal() or ("" if self.samples else NOT_REACHED)
        if reason:
            return msgspec.structs.replace(cell, unavailable=reason)
        return self._filled(cell)

    def _refusal(self) -> str:
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
    """GB/s of both directions together; None if the clock did not move."""
    return cell.moved / seconds / 1e9 if seconds > 0 else None


MOST_DRIFT = 1.5
"""Highest ratio of the times of one copy, taken from batches of two sizes."""

LEAST_DOUBLED = 3
"""Samples of double size that the check needs."""

NOT_VERIFIED = "not shown: the bytes that arrived differ from those that were sent"


def impossible_times(samples: Sequence[Times]) -> str:
    """The reason that these times are impossible; empty if they are possible."""
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
    """The reason that these batches do not give the time of one copy; empty if they do.

    Twice as many copies take twice as long to complete. If not, the time divided by the number
    of copies is not the time of each.
    """
    if not samples or len(doubled) < LEAST_DOUBLED:
        return ""
    found = ratio([each.done for each in doubled], [each.done for each in samples])
    if found.low <= MOST_DRIFT and found.high >= 1 / MOST_DRIFT:
        return ""
    return (
        f"not shown: each copy in a batch of {doubled[0].runs} takes {found.value:.2g} times as "
        f"long as in a batch of {samples[0].runs}"
    )
