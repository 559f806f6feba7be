"""Whether a ``KeyboardInterrupt`` is a person's wish to stop, or the checked code's own doing.

In the process that a person started it is the wish. A worker is out of the terminal's reach,
so there it can only be raised by the code itself. A request to end the process, as a CI job that
is called off sends it, is taken for the same wish, so that everything is put away.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

_interruptible = True

_REQUESTS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

_ECHO = 2.0
"""Seconds in which a request is not heard again: ``timeout`` asks a process, then its group."""

_heard: tuple[int, float] | None = None
"""The last request, and when it came."""


def is_interruptible() -> bool:
    """Whether this process is one that a person interrupts."""
    return _interruptible


def never_interrupted() -> None:
    """From now on this process is out of reach."""
    global _interruptible
    _interruptible = False


def ended_by() -> int | None:
    """The number of the signal that ended the last gently terminated block, if one did."""
    return None if _heard is None else _heard[0]


@contextlib.contextmanager
def gently_terminated() -> Iterator[None]:
    """Take a request to end this process for an interrupt, so that the block can clean up.

    A request that is ignored or has another handler is left alone; so is one within such a block.
    """
    global _heard
    taken = _at_default() if threading.current_thread() is threading.main_thread() else []
    if taken:
        _heard = None
    try:
        for number in taken:
            signal.signal(number, _interrupt)
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _at_default() -> list[int]:
    return [number for number in _REQUESTS if signal.getsignal(number) is signal.SIG_DFL]


def _interrupt(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a handler's signature
    global _heard
    now = time.monotonic()
    if _heard is not None and now - _heard[1] < _ECHO:
        return
    _heard = (signum, now)
    raise KeyboardInterrupt
