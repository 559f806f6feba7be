"""Reads the rungs of a ladder: the derivative, or what kind of point has none.

Two kinds of point fool a symmetric difference quotient that looks perfectly settled. At a
kink it gives the mean of two slopes. In a function that moves in steps (one that rounds to
float16 inside, say) it gives exactly zero once both ends fall on the same step. Both show
in the one-sided quotients, which is why those are always taken.
"""

from __future__ import annotations

import numpy as np

from gradtool.verify.coordinates import BoolArray, FloatArray
from gradtool.verify.estimate import Estimate, Status, StatusArray
from gradtool.verify.ladder import FLAT, Limits, Samples, limits

_KINK = 1e-3
"""Slopes that differ by less than this part of themselves are not called a kink."""

_MARGIN = 2.0
"""Nor are slopes that differ by less than this many times their errors."""

_GROWTH = 1.25
"""A quotient that grows by this factor with every halving of the step has no finite limit."""

_DEEPEST = 8
"""The rungs, counted from the last, over which growth must persist."""

_AUDIBLE = 16.0
"""A move counts as one when it is this many times the noise."""

_RESTING = 3
"""The rungs, counted from the last, over which an output must rest to move in steps."""

_CLEAR = 4
"""Rungs above an output's rest from which quotients average over its steps."""

_STEADY = 2.0
"""The factor within which averaged slopes agree."""


def read(samples: Samples) -> Estimate:
    """The answer for each row of `samples`, as an estimate with one column."""
    found = limits(samples)
    right, left = _slopes(samples, found)
    value, error = _derivative(found)
    status = _status(samples, found, kink=_differ(found) | np.isinf(right) | np.isinf(left))
    flat, kink = status == Status.FLAT, status == Status.KINK
    known = status == Status.KNOWN
    still = FLAT * samples.noise[0] / samples.steps[0]
    return Estimate(
        value=np.where(flat, 0.0, np.where(known, value, np.nan))[:, None],
        error=np.where(flat, still, np.where(known, error, np.nan))[:, None],
        status=status[:, None],
        left=np.where(kink, left, np.nan)[:, None],
        right=np.where(kink, right, np.nan)[:, None],
    )


def _status(samples: Samples, found: Limits, *, kink: BoolArray) -> StatusArray:
    known = np.isfinite(_derivative(found)[1])
    status = np.where(known, Status.KNOWN, Status.UNKNOWN).astype(np.int8)
    status[kink] = Status.KINK
    constant, in_steps = _rests(samples)
    status[in_steps] = Status.STEPPED
    status[constant & ~kink | samples.flat()] = Status.FLAT
    status[~np.isfinite(samples.base)] = Status.OUTSIDE
    return status


def _derivative(found: Limits) -> tuple[FloatArray, FloatArray]:
    """The central limit, or that of the side on which the function is defined."""
    right_only = ~np.isfinite(found.left.error)
    side_value = np.where(right_only, found.right.value, found.left.value)
    side_error = np.where(right_only, found.right.error, found.left.error)
    two_sided = np.isfinite(found.central.error)
    return (
        np.where(two_sided, found.central.value, side_value),
        np.where(two_sided, found.central.error, side_error),
    )


def _differ(found: Limits) -> BoolArray:
    """Whether the slopes from both sides are known and differ."""
    apart = np.abs(found.right.value - found.left.value)
    error = _MARGIN * (found.right.error + found.left.error)
    size = np.fmax(np.abs(found.right.value), np.abs(found.left.value))
    return apart > error + _KINK * size


def _slopes(samples: Samples, found: Limits) -> tuple[FloatArray, FloatArray]:
    """The slopes from the right and from the left, infinite where they grow without end."""
    return (
        np.where(_grows(samples.right, samples), _infinite(samples.right), found.right.value),
        np.where(_grows(samples.left, samples), _infinite(samples.left), found.left.value),
    )


def _infinite(quotients: FloatArray) -> FloatArray:
    return np.asarray(np.copysign(np.inf, quotients[-1]))


def _grows(quotients: FloatArray, samples: Samples) -> BoolArray:
    size = np.abs(quotients[-_DEEPEST:])
    moves = size * samples.steps[-_DEEPEST:, None]
    audible = np.all(moves > _AUDIBLE * samples.noise[-_DEEPEST:], axis=0)
    return np.asarray(audible & np.all(size[1:] >= _GROWTH * size[:-1], axis=0))


def _rests(samples: Samples) -> tuple[BoolArray, BoolArray]:
    """Whether an output stops moving at small steps: because it is constant there, or in steps.

    A function that moves in steps follows the input at large ones, with slopes that agree on
    both sides. Around a truly constant stretch they differ, or vanish. Neither is said of an
    output that only stops because its moves are lost in noise.
    """
    rungs = np.arange(len(samples.steps))[:, None]
    resting = np.logical_and.accumulate(samples.moves[::-1] == 0, axis=0)[::-1]
    first = np.where(resting, rungs, len(rungs)).min(axis=0)
    smallest = np.fmin.reduce(np.where(samples.moves > 0, samples.moves, np.inf), axis=0)
    rests = (first <= len(rungs) - _RESTING) & (smallest > _AUDIBLE * samples.noise[-1])
    averaging = (rungs < first - _CLEAR) & (rungs >= first - _CLEAR - _RESTING)
    follows = _agree(np.where(averaging, [samples.right, samples.left], np.nan))
    in_steps = rests & follows & (averaging.sum(axis=0) == _RESTING)
    return rests & ~in_steps, in_steps


def _agree(slopes: FloatArray) -> BoolArray:
    """Whether all slopes, along the first two axes, have one sign and about one size."""
    low, high = np.fmin.reduce(slopes, axis=(0, 1)), np.fmax.reduce(slopes, axis=(0, 1))
    least, most = np.fmin(np.abs(low), np.abs(high)), np.fmax(np.abs(low), np.abs(high))
    return np.asarray((low * high > 0) & (most <= _STEADY * least))
