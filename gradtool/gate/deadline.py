"""A limit on the time of one Function, so that an endless loop does not hold up the gate.

The limit is an alarm signal, which Python delivers between two of its instructions: it ends
loops in Python, not a single call that never returns from compiled code. Where there is no
such signal, or on another thread than the main one, there is no limit.
"""

from __future__ import annotations

import signal
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from types import FrameType

_AGAIN = 1.0
"""Seconds after which the alarm repeats, in case the user's code swallowed it."""


class TimedOut(BaseException):
    """Time is up. Like an interrupt, it is nothing that code handles as an error."""


def deadline(seconds: float | None) -> AbstractContextManager[None]:
    """Raise `TimedOut` in the block when it takes longer than `seconds`.

    An alarm that was set before goes off when it would have.
    """
    return nullcontext() if seconds is None or not _has_alarm() else _Deadline(seconds)


def _has_alarm() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "SIGALRM")


class _Deadline(AbstractContextManager[None]):
    """A class, so that the frames in which the alarm must not raise are known.

    An error raised at the beginning or end of the block would leave the alarm on.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        self._started = time.monotonic()
        self._handler = signal.signal(signal.SIGALRM, self._ring)
        self._before = signal.setitimer(signal.ITIMER_REAL, self._seconds, _AGAIN)

    def __exit__(self, *_error: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler)
        delay, interval = self._before
        left = delay and max(delay - (time.monotonic() - self._started), 1e-6)
        signal.setitimer(signal.ITIMER_REAL, left, interval)

    def _ring(self, _signum: int, frame: FrameType | None) -> None:
        own = (_Deadline.__enter__.__code__, _Deadline.__exit__.__code__)
        if frame is None or frame.f_code not in own:
            raise TimedOut
