"""Interrupts: a person's Ctrl-C, a request to end the process, or an error of the checked code.

In the process that a person started, a ``KeyboardInterrupt`` ends the run. A worker is out of the
terminal's reach, so there only the checked code itself can raise one. A request to end the
process, as a cancelled CI job sends it, is turned into an interrupt, so that the run cleans up.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

_interruptible = True

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

_REPEAT_WINDOW = 2.0
"""Seconds in which a repeated request is ignored: ``timeout`` signals a process, then its group."""

_last_request: tuple[int, float] | None = None
"""The number of its signal, and the time."""


def is_interruptible() -> bool:
    """Return True in a process that a person interrupts."""
    return _interruptible


def disable_interrupts() -> None:
    """Attribute every later ``KeyboardInterrupt`` in this process to the checked code."""
    global _interruptible
    _interruptible = False


def ended_by() -> int | None:
    """The number of the signal that ended the last gently terminated block, if one did."""
    return None if _last_request is None else _last_request[0]


@contextlib.contextmanager
def gently_terminated() -> Iterator[None]:
    """Take a request to end this process for an interrupt, so that the block can clean up.

    A request that is ignored or has another handler is left alone; so is one within such a block.
    """
    global _last_request
    # Python lets only the main thread set handlers.
    taken = _at_default() if threading.current_thread() is threading.main_thread() else []
    if taken:
        _last_request = None
    try:
        for number in taken:
            signal.signal(number, _interrupt)
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _at_default() -> list[int]:
    return [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]


def _interrupt(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a handler's signature
    global _last_request
    now = time.monotonic()
    if _last_request is not None and now - _last_request[1] < _REPEAT_WINDOW:
        return
    _last_request = (signum, now)
    raise KeyboardInterrupt
