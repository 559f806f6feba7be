"""The clock of all timings, which a test can replace."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Monotonic nanoseconds since an arbitrary moment."""

CLOCK: Clock = time.perf_counter_ns
"""The host's clock."""
