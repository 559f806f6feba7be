"""Limit on the time of one Function, so that an endless loop does not block the run.

There is no limit on a system without alarm signals, or outside of the main thread. A call into
compiled code that never returns is not interrupted: `gradtool.workers.deadline` ends its worker.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from gradtool.verify.interruption import WALL, interrupted_after

_AGAIN = 1.0
"""Seconds after which the alarm repeats, in case the user's code swallowed it."""


class TimedOut(BaseException):
    """The time is up. Not an `Exception`, so that code that handles errors lets it pass."""


def time_limit(seconds: float | None) -> AbstractContextManager[None]:
    """Raise `TimedOut` in the block when it takes longer than `seconds`.

    An alarm that was set before goes off at its time.
    """
    if seconds is None:
        return nullcontext()
    return interrupted_after(seconds, WALL, _AGAIN, TimedOut)
