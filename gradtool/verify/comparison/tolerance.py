"""The tolerance of an entry, on top of the oracle's error.

The default follows the precision the function computes in and is relative to each entry, so that a
derivative of 1e-6 must have as many right digits as one of 1e6. It does not grow with the size of
anything. The only absolute part is for rounding: an entry carries the roundings of much larger ones
in the same call to backward, or of the same input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.thresholds.comparison import (
    DOUBLE_EPS,
    DOUBLE_RTOL,
    GRADIENT_ROUNDINGS,
    HALF_RTOL,
    MEANINGFUL_ERROR,
    MEANINGFUL_ERROR_AT_MOST,
    MEANINGFUL_ROUNDINGS,
    SINGLE_EPS,
    SINGLE_RTOL,
    UNDERFLOW,
)


def default_rtol(eps: float) -> float:
    """The relative tolerance for a function that computes with precision `eps`."""
    if eps > SINGLE_EPS:
        return HALF_RTOL
    return SINGLE_RTOL if eps > DOUBLE_EPS else DOUBLE_RTOL


class LargestMoves(NamedTuple):
    """The largest entry of several Jacobians, and the largest move along a column's own reach."""

    entry: float
    move: float

    @classmethod
    def of(cls, matrices: Sequence[FloatArray], reaches: Sequence[FloatArray]) -> LargestMoves:
        """Measure Jacobians, with a reach for each of their columns."""
        sizes = [np.abs(matrix) for matrix in matrices]
        with np.errstate(over="ignore"):
            moves = [size * reach for size, reach in zip(sizes, reaches, strict=True)]
        return cls(_largest(sizes), _largest(moves))

    def at(self, reach: FloatArray) -> FloatArray:
        """Return for each column of one argument the entry that is one of the largest of all.

        Columns have units. One that moves the outputs as far as any other does, over its own
        reach, is as large; and none is larger than the largest number.
        """
        return np.asarray(np.minimum(self.entry, self.move / reach))


def _largest(sizes: Sequence[FloatArray]) -> float:
    """The largest finite entry of several matrices."""
    return max((float(s[np.isfinite(s)].max(initial=0.0)) for s in sizes), default=0.0)


class Tolerance(msgspec.Struct, frozen=True):
    """The tolerances of the rows of a Jacobian, each computed with its own precision `eps`."""

    eps: FloatArray
    largest: FloatArray | float = 0.0
    """The entry of each column that moves the outputs as far as the largest of all Jacobians does.

    Measures what is rounded to nothing; never more than the largest entry itself.
    """
    resting: FloatArray | float = 0.0
    """The entry of each row and column that one would be without the units of outputs and inputs.

    Gradients are sums of terms of the size of their cotangents, which is one.
    """
    cancels: bool = False
    """Whether these are second derivatives, in which every entry has roundings of the largest.

    A gradient in which something close to one was rounded to one has lost a term for good.
    """
    jitter: FloatArray | float = 0.0
    """The sensitivity of each entry of the analytic side to rounding."""
    left_out: float = 0.0
    """Part of the largest second derivative that an operation of forward leaves out."""
    atol: float | None = None
    rtol: float | None = None

    def allowed(self, analytic: FloatArray, numeric: FloatArray) -> FloatArray:
        """Return the tolerance of each entry of `analytic` against `numeric`."""
        with np.errstate(over="ignore", invalid="ignore"):
            relative = self._rtol() * np.abs(numeric)
            absolute = (
                (self.atol or 0.0) + self.cancellation_tolerance() + self.jitter + self._underflow()
            )
            return np.asarray(absolute + relative + self._rounding(analytic))

    def across(self, along: FloatArray) -> Tolerance:
        """Return the tolerance of a direction, which has so much of each column."""
        size, shape = np.abs(along), (len(self.eps), len(along))
        jitter, resting = (np.broadcast_to(each, shape) for each in (self.jitter, self.resting))
        return replace(
            self,
            largest=float(np.max(self.largest * size, initial=0.0)),
            resting=(resting @ size)[:, None],
            # The jitter of the entries adds up along the direction, as their values do.
            jitter=(jitter @ size)[:, None],
        )

    def sharpest_rtol(self) -> float:
        """Return the tolerance of a sum of very many entries: what rounding alone explains."""
        eps = float(self.eps.max(initial=0.0))
        return min(default_rtol(eps), max(DOUBLE_RTOL, GRADIENT_ROUNDINGS * eps))

    def cancellation_tolerance(self) -> FloatArray:
        """Return for each entry the size that cancellation may have lost for good."""
        if not self.cancels:
            return np.zeros((len(self.eps), 1))
        return np.asarray(self.zero_tolerance() + self.left_out * self.largest)

    def zero_tolerance(self) -> FloatArray:
        """Return for each entry the largest value that passes for an exact zero."""
        return np.asarray(GRADIENT_ROUNDINGS * self.eps[:, None] * self.largest)

    def flat_tolerance(self) -> FloatArray:
        """Return for each entry the largest value that passes where the output does not move.

        Next to a term of the size of `resting` a rounding's rounding leaves no trace.
        """
        floor = self.eps[:, None] ** 2 * self.resting if self.cancels else 0.0
        return np.asarray(np.maximum(self.zero_tolerance(), floor))

    def _rounding(self, analytic: FloatArray) -> FloatArray:
        """Return the roundings that each entry may carry from the largest of its row and column."""
        size = np.nan_to_num(np.abs(analytic), nan=0.0, posinf=0.0)
        row = size.max(axis=1, keepdims=True, initial=0.0)
        column = size.max(axis=0, keepdims=True, initial=0.0)
        return np.asarray(GRADIENT_ROUNDINGS * self.eps[:, None] * np.maximum(row, column / 8))

    def meaningful_error(self, scale: FloatArray) -> FloatArray:
        """The largest error that still means something in a block of this scale, row by row."""
        part = np.clip(MEANINGFUL_ROUNDINGS * self.eps, MEANINGFUL_ERROR, MEANINGFUL_ERROR_AT_MOST)
        return np.maximum(part * scale, self.atol or 0.0)

    def _underflow(self) -> FloatArray:
        return np.array([[UNDERFLOW[bool(eps <= DOUBLE_EPS)]] for eps in self.eps])

    def _rtol(self) -> FloatArray:
        if self.rtol is not None:
            return np.full((len(self.eps), 1), self.rtol)
        return np.array([[default_rtol(eps)] for eps in self.eps])
