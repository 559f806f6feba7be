"""Sampling: runs in a sample, samples in turn, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gradtool.measure.clock import CLOCK, Clock
from gradtool.measure.summary import summarize

WINDOW = 300e-6
"""Minimal seconds of one sample.

300 microseconds keep the resolution of CUDA's events, half a microsecond, below 0.2 percent, and
small what a sample costs once. Longer samples would be fewer and hide drift.
"""

WARM_RUNS = 3
WARM_SECONDS = 10e-3
"""Minimal warm-up, in which links and clocks leave their idle states."""

_MOST_PER_SAMPLE = 1 << 20


def runs_per_sample(
    run: Callable[[int], float], *, window: float = WINDOW, warm: float = WARM_SECONDS
) -> int:
    """Return the number of runs that fill a window even at their fastest.

    The search is the warm-up.

    Args:
        run: Runs that many times and returns the seconds that it took.
        window: Minimal seconds of a sample.
        warm: Minimal seconds of warm-up.
    """
    count, done, spent, fastest = 1, 0, 0.0, math.inf
    while True:
        took = run(count)
        done += count
        spent += took
        fastest = min(fastest, took)
        if fastest < window and count < _MOST_PER_SAMPLE:
            count, fastest = _grown(count, fastest, window), math.inf
        elif count == _MOST_PER_SAMPLE or (done >= WARM_RUNS and spent >= warm):
            return count


def _grown(count: int, took: float, window: float) -> int:
    """Return a count that fills the window, at most eight times as large.

    It is a power of two, so that another process that measures the same arrives at it too:
    samples of different counts share what a sample costs once among different numbers of runs.
    """
    factor = min(window / took, 8.0) if took > 0 else 8.0
    return min(count << max(1, math.ceil(math.log2(factor))), _MOST_PER_SAMPLE)


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
