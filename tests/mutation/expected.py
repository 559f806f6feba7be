"""The right answer to a question, and which answers are others than it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tests.mutation.point import Array
from tests.mutation.questions import Answer, Question

TIMES_TOLERANCE = 10
"""How many tolerances away a gradient is another one."""

_ROUNDINGS = 100
_TINY = 1e-290

Slopes = tuple[Array, Array]


@dataclass(frozen=True)
class Expected:
    """The answer to one question."""

    question: Question
    answer: Answer
    eps: float
    between: tuple[Slopes, ...] = ()
    """For each array of the answer both slopes at kinks; NaN where there is none."""
    slack: tuple[Array, ...] = ()
    """For each array by how much rounding has it waver."""

    def differs(self, found: Answer) -> bool:
        """Whether an answer is another one than this."""
        return len(found) != len(self.answer) or any(
            bool(self._is_other(at, array).any()) for at, array in enumerate(found)
        )

    def unless_refuted(self, own: Answer) -> Expected | None:
        """This answer, if that of the right Function agrees but for rounding.

        Where the right Function's own answer has rounding errors of the size of its
        cotangents', those of mutants may have them too.
        """
        rounding = np.array(_ROUNDINGS * self.eps)
        if replace(self, slack=(rounding,) * len(self.answer)).differs(own):
            return None
        slack = tuple(
            np.where(self._is_other(at, array), TIMES_TOLERANCE * self._distance(at, array), 0.0)
            for at, array in enumerate(own)
        )
        return replace(self, slack=slack)

    def _distance(self, at: int, found: Array | None) -> Array:
        right, found = _zeros_for_none(self.answer[at], found)
        return np.asarray(np.abs(found - right))

    def _is_other(self, at: int, array: Array | None) -> Array:
        """Which entries are others."""
        right, found = _zeros_for_none(self.answer[at], array)
        if found.shape != right.shape:
            return np.array(True)
        size = np.abs(right)
        rtol = TIMES_TOLERANCE * (1e-3 if self.eps > np.finfo(np.float64).eps else 1e-6)
        largest = np.max(size, initial=0.0, where=np.isfinite(size))
        allowed = rtol * size + _ROUNDINGS * self.eps * largest + _TINY
        if self.slack:
            allowed = allowed + self.slack[at]
        close = np.abs(found - right) <= allowed
        if self.between:
            close |= _is_between(found, *self.between[at], rtol)
        return np.asarray(~close & np.isfinite(right))


def _zeros_for_none(right: Array | None, found: Array | None) -> tuple[Array, Array]:
    if right is None:
        right = np.zeros(() if found is None else found.shape)
    return right, np.zeros_like(right) if found is None else found


def _is_between(found: Array, left: Array, right: Array, rtol: float) -> Array:
    low, high = np.fmin(left.real, right.real), np.fmax(left.real, right.real)
    slack = rtol * np.fmax(np.abs(low), np.abs(high))
    return np.asarray((found.real >= low - slack) & (found.real <= high + slack))
