"""A limit on the time of one Function, so that an endless loop does not hold up the gate.

The limit is an alarm signal, which Python delivers between two of its instructions: it ends
loops in Python, not a single call that never returns from compiled code. Where there is no
such signal, or on another thread than the main one, there is no limit.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN = 1.0
"""Seconds after which the alarm repeats, in case the user's code swallowed it."""


class TimedOut(BaseException):
    """Time is up. Like an interrupt, it is nothing that code handles as an error."""


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Raise `TimedOut` in the block when it takes longer than `seconds`.

    An alarm that was set before goes off when it would have.
    """
    if seconds is None or not _has_alarm():
        yield
        return
    started = time.monotonic()
    handler = signal.signal(signal.SIGALRM, _ring)
    delay, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        left = delay and max(delay - (time.monotonic() - started), 1e-6)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, left, interval)


def _has_alarm() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "SIGALRM")


def _ring(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a handler's signature
    raise TimedOut
