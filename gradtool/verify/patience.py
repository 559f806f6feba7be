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
from contextlib import AbstractContextManager, contextmanager, nullcontext
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

    def limited(self, times: int = 1) -> AbstractContextManager[None]:
        """Interrupt the block when it takes far longer than that, for so many evaluations.

        Raises:
            OutOfPatienceError: It did.
        """
        if not _has_timer():
            return nullcontext()
        return _Limit(self, times * max(self._least, _TIMES * self._known))

    def is_over(self) -> None:
        """Note that an evaluation was given up: the next have less time."""
        self._least = _LATER


class _Limit(AbstractContextManager[None]):
    """A class, so that the frames in which the timer must not raise are known."""

    def __init__(self, patience: Patience, seconds: float) -> None:
        self._patience = patience
        self._seconds = seconds

    def __enter__(self) -> None:
        self._handler = signal.signal(signal.SIGVTALRM, self._ring)
        self._before = signal.setitimer(signal.ITIMER_VIRTUAL, self._seconds)

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, *self._before)
        signal.signal(signal.SIGVTALRM, self._handler)
        if isinstance(error, _Interrupt):
            self._patience.is_over()
            raise OutOfPatienceError("an evaluation took far too long") from error

    def _ring(self, _signum: int, frame: FrameType | None) -> None:
        own = (_Limit.__enter__.__code__, _Limit.__exit__.__code__)
        if frame is None or frame.f_code not in own:
            raise _Interrupt


def _has_timer() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "ITIMER_VIRTUAL")
