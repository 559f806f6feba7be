"""The clock that everything is timed by, which a test can replace."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Nanoseconds since some moment, never going back."""

CLOCK: Clock = time.perf_counter_ns
"""The host's own."""
