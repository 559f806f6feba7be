"""How long one evaluation may take that the checker asks for, and the user never did.

An iteration that ends when it has converged to 1e-10 never ends in float32, nor where its
numbers are not numbers any more. The limit is on the processor's time, which a busy machine
does not use up, and ends loops in Python, not a single call that never returns from compiled
code. Where there is no such timer, or on another thread than the main one, there is no limit.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_FIRST = 1.0
_LATER = 0.1
"""Seconds that an evaluation may take in any case: at first, and when one has been given up."""

_TIMES = 50.0
"""How many times longer than the evaluation that is known to end another one may take."""


class OutOfPatienceError(Exception):
    """An evaluation took far too long."""


class _Interrupt(BaseException):
    """What is raised in the user's code: nothing that it handles as an error."""


class Patience:
    """A limit for many evaluations of one function."""

    def __init__(self) -> None:
        self._known = 0.0
        self._least = _FIRST

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Time an evaluation that is known to end."""
        started = time.process_time()
        yield
        self._known = time.process_time() - started

    @contextmanager
    def limited(self, times: int = 1) -> Iterator[None]:
        """Interrupt the block when it takes far longer than that, for so many evaluations.

        Raises:
            OutOfPatienceError: It did.
        """
        if not _has_timer():
            yield
            return
        seconds = times * max(self._least, _TIMES * self._known)
        handler = signal.signal(signal.SIGVTALRM, _interrupt)
        left, interval = signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            yield
        except _Interrupt as interrupt:
            self._least = _LATER
            raise OutOfPatienceError("an evaluation took far too long") from interrupt
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, left, interval)
            signal.signal(signal.SIGVTALRM, handler)


def _has_timer() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "ITIMER_VIRTUAL")


def _interrupt(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a handler's signature
    raise _Interrupt
