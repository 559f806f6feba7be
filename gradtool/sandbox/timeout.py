"""A limit on the time of one Function, so that an endless loop does not hold up the gate.

Where there is no alarm signal, or on another thread than the main one, there is no limit.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from gradtool.verify.interruption import WALL, interrupted_after

_AGAIN = 1.0
"""Seconds after which the alarm repeats, in case the user's code swallowed it."""


class TimedOut(BaseException):
    """Time is up. Like an interrupt, it is nothing that code handles as an error."""


def time_limit(seconds: float | None) -> AbstractContextManager[None]:
    """Raise `TimedOut` in the block when it takes longer than `seconds`.

    An alarm that was set before goes off when it would have.
    """
    if seconds is None:
        return nullcontext()
    return interrupted_after(seconds, WALL, _AGAIN, TimedOut)
