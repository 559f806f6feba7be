"""Reads the rungs of a ladder: the derivative, or what kind of point has none.

A kink fools a symmetric difference quotient, which gives the mean of two slopes and looks
perfectly settled. It shows in the one-sided quotients, which is why those are always taken.
"""

from __future__ import annotations

import numpy as np

from gradtool.verify.oracle.estimate import Estimate, Status, StatusArray
from gradtool.verify.oracle.plateau import Rest, rest_of
from gradtool.verify.oracle.step_ladder import Limits, Samples, limits
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.thresholds.steps import (
    FLAT_MOVES,
    KINK_ERROR_MARGIN,
    KINK_SLOPE_DIFFERENCE,
    STEPPED_SLOPE_SPREAD,
    VERTICAL_GROWTH,
    VERTICAL_MOVES,
    VERTICAL_RUNGS,
)


def read(samples: Samples) -> Estimate:
    """The answer for each row of `samples`, as an estimate with one column."""
    found, rest = limits(samples), rest_of(samples)
    right, left = _slopes(samples, found)
    value, error = _derivative(found)
    kink = _differ(found) | np.isinf(right) | np.isinf(left)
    status = _status(samples, kink=kink, known=np.isfinite(error), rest=rest)
    still = 2 * FLAT_MOVES * samples.noise[0] / _reach(samples)
    return Estimate(
        value=_by_status(status, {Status.KNOWN: value, Status.FLAT: np.zeros_like(value)}),
        error=_by_status(status, {Status.KNOWN: error, Status.FLAT: still}),
        status=status[:, None],
        left=_by_status(status, {Status.KINK: left, Status.STEPPED: np.zeros_like(left)}),
        right=_by_status(
            status, {Status.KINK: right, Status.STEPPED: STEPPED_SLOPE_SPREAD * rest.slope}
        ),
    )


def _is_flat(samples: Samples) -> BoolArray:
    return np.asarray(samples.flat_from() < len(samples.steps))


def _reach(samples: Samples) -> FloatArray:
    """How far each row was followed without a break: the largest step where it is not flat."""
    first = samples.flat_from()
    return samples.steps[np.where(first < len(samples.steps), first, 0)]


def _by_status(status: StatusArray, values: dict[Status, FloatArray]) -> FloatArray:
    """One column with the values for each status; NaN where none are given."""
    column = np.full(status.shape, np.nan)
    for which, value in values.items():
        column = np.where(status == which, value, column)
    return column[:, None]


def _status(samples: Samples, *, kink: BoolArray, known: BoolArray, rest: Rest) -> StatusArray:
    status = np.where(known, Status.KNOWN, Status.UNKNOWN).astype(np.int8)
    status[kink] = Status.KINK
    status[rest.in_steps] = Status.STEPPED
    status[rest.constant & ~kink | _is_flat(samples)] = Status.FLAT
    inside = np.isfinite(samples.base) & np.isfinite(samples.moves).any(axis=0)
    status[~inside] = Status.OUTSIDE
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
    error = KINK_ERROR_MARGIN * (found.right.error + found.left.error)
    size = np.fmax(np.abs(found.right.value), np.abs(found.left.value))
    return apart > error + KINK_SLOPE_DIFFERENCE * size


def _slopes(samples: Samples, found: Limits) -> tuple[FloatArray, FloatArray]:
    """The slopes from the right and from the left, infinite where they grow without end."""
    return (
        np.where(_grows(samples.right, samples), _infinite(samples.right), found.right.value),
        np.where(_grows(samples.left, samples), _infinite(samples.left), found.left.value),
    )


def _infinite(quotients: FloatArray) -> FloatArray:
    return np.asarray(np.copysign(np.inf, quotients[-1]))


def _grows(quotients: FloatArray, samples: Samples) -> BoolArray:
    size = np.abs(quotients[-VERTICAL_RUNGS:])
    moves = size * samples.steps[-VERTICAL_RUNGS:, None]
    audible = np.all(moves > VERTICAL_MOVES * samples.noise[-VERTICAL_RUNGS:], axis=0)
    return np.asarray(audible & np.all(size[1:] >= VERTICAL_GROWTH * size[:-1], axis=0))
