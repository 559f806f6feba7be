"""Sampling: runs in a sample, samples in turn, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gradtool.measure.clock import CLOCK, Clock
from gradtool.measure.summary import summarize

WINDOW = 100e-6
"""Minimal seconds of one sample.

100 microseconds keep the resolution of CUDA's events, half a microsecond, below half a percent.
Longer samples would be fewer and hide drift.
"""

WARM_RUNS = 3
WARM_SECONDS = 10e-3
"""Minimal warm-up, in which links and clocks leave their idle states."""

_MOST_PER_SAMPLE = 1_000_000


def runs_per_sample(
    run: Callable[[int], float], *, window: float = WINDOW, warm: float = WARM_SECONDS
) -> int:
    """Return the number of runs that fill a window; the search is the warm-up.

    Args:
        run: Runs that many times and returns the seconds that it took.
        window: Minimal seconds of a sample.
        warm: Minimal seconds of warm-up.
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
    """Return a count that fills the window with a margin, at most ten times as large."""
    wanted = math.ceil(count * 1.2 * window / took) if took > 0 else count * 10
    return min(max(wanted, count + 1), count * 10, _MOST_PER_SAMPLE)


class Sampled(Protocol):
    """Something measured one sample at a time."""

    def take(self) -> None:
        """Take a sample."""

    def done(self) -> bool:
        """Return True if it has enough samples, or can take no more."""


def sample_in_turn(
    subjects: Sequence[Sampled],
    *,
    seconds: float,
    clock: Clock = CLOCK,
    progress: Callable[[int], None] = lambda _open: None,
) -> bool:
    """Take one sample of each in turn, until all are done or the time is up.

    Drift then affects all of them alike.

    Args:
        subjects: The things to sample.
        seconds: Time limit; a sample that has begun is finished.
        clock: Source of times.
        progress: Called after every sample with the number of unfinished subjects.

    Returns:
        True if all are done.
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
    """Minimal number of samples and maximal spread; the caller keeps the time budget."""

    least: int = 15
    most: int = 1000
    spread: float = 0.05
    """Relative interquartile range that is small enough to stop."""

    def satisfied(self, samples: Sequence[float]) -> bool:
        """Return True if these samples are enough."""
        if len(samples) < self.least:
            return False
        return len(samples) >= self.most or summarize(samples).relative_iqr < self.spread
