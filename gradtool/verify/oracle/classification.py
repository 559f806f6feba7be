"""The verdict of a ladder on each entry: its derivative, or the kind of point that has none.

A kink fools a symmetric difference quotient, which gives the mean of two slopes and looks perfectly
settled. It shows in the one-sided quotients, which is why those are always taken.

So does a plateau. A function that rounds to float16 inside moves in steps, and every quotient of it
is exactly zero once both ends fall on the same step. It differs from a constant in that it follows
its input over larger distances.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from gradtool.verify.oracle.estimate import Estimate, Status, StatusArray
from gradtool.verify.oracle.step_ladder import Limits, Samples, limits
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.thresholds.steps import (
    COARSE_STEP,
    FLAT_MOVES,
    KINK_ERROR_MARGIN,
    KINK_SLOPE_DIFFERENCE,
    STEPPED_AVERAGED_RUNGS,
    STEPPED_CLEAR_RUNGS,
    STEPPED_SLOPE_RATIO,
    STEPPED_SLOPE_SPREAD,
    VERTICAL_GROWTH,
    VERTICAL_MOVES,
    VERTICAL_RUNGS,
)


def classify(samples: Samples) -> Estimate:
    """Classify each row of `samples`, as an estimate with one column."""
    found, plateau = limits(samples), find_plateaus(samples)
    right, left = _slopes(samples, found)
    value, error = _derivative(found)
    kink = _differ(found) | np.isinf(right) | np.isinf(left)
    status = _status(samples, kink=kink, known=np.isfinite(error), plateau=plateau)
    flat_error = 2 * FLAT_MOVES * samples.noise[0] / _reach(samples)
    return Estimate(
        value=_by_status(status, {Status.KNOWN: value, Status.FLAT: np.zeros_like(value)}),
        error=_by_status(status, {Status.KNOWN: error, Status.FLAT: flat_error}),
        status=status[:, None],
        left=_by_status(status, {Status.KINK: left, Status.STEPPED: np.zeros_like(left)}),
        right=_by_status(
            status, {Status.KINK: right, Status.STEPPED: STEPPED_SLOPE_SPREAD * plateau.slope}
        ),
    )


def _is_flat(samples: Samples) -> BoolArray:
    return np.asarray(samples.flat_from() < len(samples.steps))


def _reach(samples: Samples) -> FloatArray:
    """Return the largest step to which each row was followed: its flat part, or all."""
    first = samples.flat_from()
    return samples.steps[np.where(first < len(samples.steps), first, 0)]


def _by_status(status: StatusArray, values: dict[Status, FloatArray]) -> FloatArray:
    """One column with the values for each status; NaN where none are given."""
    column = np.full(status.shape, np.nan)
    for which, value in values.items():
        column = np.where(status == which, value, column)
    return column[:, None]


def _status(
    samples: Samples, *, kink: BoolArray, known: BoolArray, plateau: Plateau
) -> StatusArray:
    status = np.where(known, Status.KNOWN, Status.UNKNOWN).astype(np.int8)
    # The order matters: later lines overrule earlier ones. Plateaus also look like kinks, or known.
    status[kink] = Status.KINK
    status[plateau.in_steps] = Status.STEPPED
    status[plateau.constant & ~kink | _is_flat(samples)] = Status.FLAT
    inside = np.isfinite(samples.base) & np.isfinite(samples.moves).any(axis=0)
    # Last: arithmetic with NaN and infinity may have set any of the flags above.
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
    """Flag rows whose slopes from both sides are known and differ."""
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


class Plateau(msgspec.Struct, frozen=True):
    """Flags of the outputs that are constant here, or move in steps along `slope` on average."""

    constant: BoolArray
    in_steps: BoolArray
    slope: FloatArray


def find_plateaus(samples: Samples) -> Plateau:
    """Tell plateaus of a constant from those of a function that moves in steps.

    A function that moves in steps has slopes, at large distances, that agree on both sides; around
    a merely constant stretch they differ, or vanish. The length of a step shows on the side that
    comes to rest first. A function whose values are whole numbers means its steps: it is constant
    between them.
    """
    rungs = np.arange(len(samples.steps))[:, None]
    first = np.minimum(_first_rest(samples.right), _first_rest(samples.left))
    smallest = np.fmin.reduce(np.where(samples.moves > 0, samples.moves, np.inf), axis=0)
    coarse = smallest > COARSE_STEP * np.abs(samples.base)
    # Finer steps, such as those of float32, are measured as noise, unless the points where that
    # was measured all fell into the pattern of the steps.
    unmeasured = smallest > FLAT_MOVES * samples.noise[-1]
    # Rungs just above a step catch one jump or none; averages over steps need rungs well above it.
    last = np.minimum(first, np.maximum(first - STEPPED_CLEAR_RUNGS, 1))
    averaging = (rungs < last) & (rungs >= last - STEPPED_AVERAGED_RUNGS)
    slopes = np.where(averaging, [samples.right, samples.left], np.nan)
    rests = samples.is_constant()
    in_steps = rests & (coarse | unmeasured) & _agree(slopes) & ~_is_whole(samples)
    return Plateau(rests & coarse & ~in_steps, in_steps, _steepest(slopes))


def _first_rest(quotients: FloatArray) -> NDArray[np.intp]:
    """The first rung from which on an output does not move on one side."""
    resting = np.logical_and.accumulate(quotients[::-1] == 0, axis=0)[::-1]
    count = len(quotients)
    return np.asarray(np.where(resting, np.arange(count)[:, None], count).min(axis=0))


def _is_whole(samples: Samples) -> BoolArray:
    """Flag outputs all of whose values are whole numbers."""
    moves = samples.moves[np.isfinite(samples.moves).all(axis=1)]
    whole = np.all(moves == np.round(moves), axis=0)
    return np.asarray((samples.base == np.round(samples.base)) & whole)


def _agree(slopes: FloatArray) -> BoolArray:
    """Flag rows whose slopes, along the first two axes, have one sign and about one size."""
    low, high = np.fmin.reduce(slopes, axis=(0, 1)), np.fmax.reduce(slopes, axis=(0, 1))
    least, most = np.fmin(np.abs(low), np.abs(high)), np.fmax(np.abs(low), np.abs(high))
    return np.asarray((low * high > 0) & (most <= STEPPED_SLOPE_RATIO * least))


def _steepest(slopes: FloatArray) -> FloatArray:
    low, high = np.fmin.reduce(slopes, axis=(0, 1)), np.fmax.reduce(slopes, axis=(0, 1))
    return np.asarray(np.where(np.abs(low) > np.abs(high), low, high))
