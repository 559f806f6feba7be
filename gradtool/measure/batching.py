"""How many runs go into one sample, so that the clock's own steps do not matter.

A window of 100 microseconds keeps the resolution of CUDA's events, half a microsecond, below
half a percent. Larger windows would leave fewer samples and hide drift.
"""

from __future__ import annotations

import math
from collections.abc import Callable

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
