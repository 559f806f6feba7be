"""Whether a ``KeyboardInterrupt`` is a person's wish to stop, or the checked code's own doing.

In the process that a person started it is the wish. A worker is out of the terminal's reach,
so there it can only be raised by the code itself.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_interruptible = True


def is_interruptible() -> bool:
    """Whether this process is one that a person interrupts."""
    return _interruptible


def never_interrupted() -> None:
    """From now on this process is out of reach."""
    global _interruptible
    _interruptible = False


@contextlib.contextmanager
def gently_terminated() -> Iterator[None]:
    """Take a request to end this process for an interrupt, so that the block can clean up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a handler's signature
    raise KeyboardInterrupt
