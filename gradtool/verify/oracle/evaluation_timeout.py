"""How long one evaluation may take that the checker asks for, and the user never did.

An iteration that ends when it has converged to 1e-10 never ends in float32, nor where its
numbers are not numbers any more. The limit is on the processor's time, which a busy machine
does not use up. Where there is no such timer, or on another thread than the main one, there is
no limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from gradtool.verify.interruption import PROCESSOR, interrupted_after
from gradtool.verify.thresholds.effort import (
    EVALUATION_TIMES,
    FIRST_EVALUATION_SECONDS,
    LATER_EVALUATION_SECONDS,
)


class OutOfPatienceError(Exception):
    """An evaluation took far too long."""


class _Interrupt(BaseException):
    """What is raised in the user's code: nothing that it handles as an error."""


class Patience:
    """A limit for many evaluations of one function."""

    def __init__(self) -> None:
        self._known = 0.0
        self._least = FIRST_EVALUATION_SECONDS

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
        seconds = times * max(self._least, EVALUATION_TIMES * self._known)
        return interrupted_after(
            seconds, PROCESSOR, LATER_EVALUATION_SECONDS, _Interrupt, self._give_up
        )

    def _give_up(self) -> OutOfPatienceError:
        """The next evaluations have less time."""
        self._least = LATER_EVALUATION_SECONDS
        return OutOfPatienceError("an evaluation took far too long")
