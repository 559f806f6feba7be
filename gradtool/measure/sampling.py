"""Sampling: runs in a sample, samples in turn, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gradtool.measure.clock import CLOCK, Clock
from gradtool.measure.summary import summarize

WINDOW = 100e-6
"""Seconds that one sample takes at least."""

WARM_RUNS = 3
WARM_SECONDS = 10e-3
"""What is run before anything is counted: links and clocks leave their idle states."""

_MOST_PER_SAMPLE = 1_000_000


def runs_per_sample(
    run: Callable[[int], float], *, window: float = WINDOW, warm: float = WARM_SECONDS
) -> int:
    """How many runs fill a window; what is run to find out is the warm-up.

    Args:
        run: Runs so many times and tells how many seconds that took.
        window: Seconds that a sample should take at least.
        warm: Seconds to run before the answer is believed.
    """
    count, done, spent = 1, 0, 0.0
    while True:
        took = run(count)
        done += count
        spent += took
        filled = took >= window or count >= _MOST_PER_SAMPLE
        if filled and done >= WARM_RUNS and spent >= warm:
            return count
        if not filled:
            count = _grown(count, took, window)


def _grown(count: int, took: float, window: float) -> int:
    """A count that fills the window with a little to spare, at most ten times as large."""
    wanted = math.ceil(count * 1.2 * window / took) if took > 0 else count * 10
    return min(max(wanted, count + 1), count * 10, _MOST_PER_SAMPLE)


class Sampled(Protocol):
    """Something that is measured one sample at a time."""

    def take(self) -> None:
        """Take a sample."""

    def done(self) -> bool:
        """Whether it has samples enough, or can have no more."""


def sample_in_turn(
    subjects: Sequence[Sampled],
    *,
    seconds: float,
    clock: Clock = CLOCK,
    progress: Callable[[int], None] = lambda _open: None,
) -> bool:
    """Go round, one sample each, until all are done or the time is up.

    Args:
        subjects: What to sample.
        seconds: How long this may take; a sample that has begun is finished.
        clock: What the time is read from.
        progress: Told after every sample how many subjects are not done.

    Returns:
        Whether all are done.
    """
    end = clock() + seconds * 1e9
    waiting = [subject for subject in subjects if not subject.done()]
    while waiting:
        for subject in waiting:
            if clock() >= end:
                return False
            subject.take()
            progress(len(waiting))
        waiting = [subject for subject in waiting if not subject.done()]
    return True


@dataclass(frozen=True)
class StopRule:
    """At least so many samples, and a spread so small; a time budget is the caller's to keep."""

    least: int = 15
    most: int = 1000
    spread: float = 0.05
    """Relative interquartile range that is small enough."""

    def satisfied(self, samples: Sequence[float]) -> bool:
        """Whether these samples are enough."""
        if len(samples) < self.least:
            return False
        return len(samples) >= self.most or summarize(samples).relative_iqr < self.spread
