"""Deadlines of jobs: a worker that hangs past the deadline of its job is killed.

In the worker an alarm has raised `gradtool.sandbox.timeout.TimedOut` before, which ends what runs
in Python. The deadline ends the rest: compiled code, and code that catches everything.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

GRACE = 1.0
"""Seconds that a worker has left once the alarm went off in it."""

_LONGEST_WAIT = 3600.0
"""Seconds; systems refuse to wait for events far longer, as for a month."""


def deadline_after(seconds: float | None) -> float | None:
    """The deadline for code that may run for `seconds`, on the monotonic clock."""
    return None if seconds is None else time.monotonic() + seconds + GRACE


def is_over(deadline: float | None) -> bool:
    """Return True once a deadline has passed."""
    return deadline is not None and deadline <= time.monotonic()


def seconds_to_first(deadlines: Iterable[float | None]) -> float | None:
    """The time to wait at most for the first of the deadlines; None without any."""
    known = [deadline for deadline in deadlines if deadline is not None]
    return min(max(min(known) - time.monotonic(), 0), _LONGEST_WAIT) if known else None
