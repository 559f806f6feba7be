"""A time limit for single evaluations that the checker makes and the user never asked for.

An iteration that ends when it has converged to 1e-10 never ends in float32, nor where its numbers
have become NaN. The limit is on processor time, which a busy machine does not use up. Where there
is no such timer, or on another thread than the main one, there is no limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from gradtool.verify.interruption import PROCESSOR, interrupted_after, is_importing
from gradtool.verify.thresholds.effort import (
    EVALUATION_TIMES,
    FIRST_EVALUATION_SECONDS,
    LATER_EVALUATION_SECONDS,
)


class EvaluationTimeoutError(Exception):
    """An evaluation took far too long."""


class _Interruption(BaseException):
    """Raised in the user's code, which must not handle it as an error."""


class EvaluationTimeout:
    """A limit for many evaluations of one function."""

    def __init__(self) -> None:
        self._known = 0.0
        self._least = FIRST_EVALUATION_SECONDS
        # Asked once: a look at the whole stack takes as long as a small evaluation.
        self._spares_imports = not is_importing()

    @contextmanager
    def calibrated(self) -> Iterator[None]:
        """Time an evaluation that is known to end, for later limits."""
        started = time.process_time()
        yield
        # Processor time, as the limit: other processes that are busy must not stretch it.
        self._known = time.process_time() - started
        # A slow start is behind it.
        self._least = LATER_EVALUATION_SECONDS

    def limited(self, times: int = 1) -> AbstractContextManager[None]:
        """Interrupt a block of so many evaluations when it takes far longer than the timed one.

        Raises:
            EvaluationTimeoutError: It did.
        """
        seconds = times * max(self._least, EVALUATION_TIMES * self._known)
        return interrupted_after(
            seconds,
            PROCESSOR,
            LATER_EVALUATION_SECONDS,
            _Interruption,
            self._timed_out,
            spares_imports=self._spares_imports,
        )

    def _timed_out(self) -> EvaluationTimeoutError:
        """Return the error of a limit that was exceeded, and shorten the next ones."""
        # A function that does not end at one point rarely ends at others.
        self._least = LATER_EVALUATION_SECONDS
        return EvaluationTimeoutError("an evaluation took far too long")
