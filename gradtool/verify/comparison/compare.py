"""Pass, fail or unverified: the decision on each entry of an analytic Jacobian.

An entry passes when it lies within the oracle's value ± (error + tolerance) and that error is
small enough to mean something: next to its block, or, where that is zero, next to the largest
entry of all. It fails when it lies outside. All else is unverified. So a sharp oracle makes a
sharp check, and an ill-conditioned function neither fails nor passes for lack of digits. NaN never
passes.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gradtool.verify.comparison.tolerance import Tolerance
from gradtool.verify.oracle.estimate import Estimate, Status
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.thresholds.comparison import NEXT_TO_NOTHING, ROUGHLY_KNOWN

DecisionArray = NDArray[np.int8]


class Decision(enum.IntEnum):
    """The decision on one entry. The larger, the worse."""

    PASS = 0
    KINK = 1
    """There is no derivative, and the value lies between the one-sided slopes."""
    UNVERIFIED = 2
    FAIL = 3


def decide(
    analytic: FloatArray, numeric: Estimate, tolerance: Tolerance, blocks: Sequence[slice]
) -> DecisionArray:
    """Decide every entry; `blocks` are the rows that belong to one output each."""
    scale = block_scale(analytic, numeric, blocks)
    sharp = numeric.error <= tolerance.meaningful_error(scale)[:, None]
    inside = is_inside(analytic, numeric, tolerance)
    decision = np.full(analytic.shape, Decision.UNVERIFIED, dtype=np.int8)
    # An entry that is certainly next to nothing needs no digits of its own.
    sharp |= np.abs(numeric.value) + numeric.error <= tolerance.zero_tolerance()
    still = (numeric.status == Status.FLAT) & (np.abs(analytic) <= tolerance.flat_tolerance())
    decision[inside & (sharp | still)] = Decision.PASS
    decision[~inside & np.isfinite(numeric.value)] = Decision.FAIL
    kink, between = numeric.status == Status.KINK, is_between(analytic, numeric, tolerance)
    decision[kink] = Decision.KINK
    decision[(kink | (numeric.status == Status.STEPPED)) & ~between] = Decision.FAIL
    # Steps hide a slope, but not that it is small: both sides may be nothing next to the block.
    slope = np.fmax(np.abs(numeric.left), np.abs(numeric.right))
    size = np.fmax(np.abs(analytic), slope)
    lost = (size <= tolerance.cancellation_tolerance()) | between & (
        size <= tolerance.meaningful_error(scale)[:, None]
    )
    decision[(numeric.status == Status.STEPPED) & lost] = Decision.PASS
    # Where the function itself is not finite a NaN may be the right answer.
    decision[np.isnan(analytic) & (numeric.status != Status.OUTSIDE)] = Decision.FAIL
    return decision


def is_unresolved(
    analytic: FloatArray,
    numeric: Estimate,
    rounding_floor: FloatArray,
    decision: DecisionArray,
    reach: FloatArray | float = 1.0,
) -> BoolArray:
    """Flag undecided entries that are known as well as the roundings of their output ever allow.

    Their error lies below `rounding_floor`, which is relative to the output. An output with a large
    constant in it may still be meant to follow its input: so other entries must be known well, or
    these roughly, or they are next to nothing as they stand, and over the `reach` of their columns.
    """
    stepped = numeric.status == Status.STEPPED
    slope = np.fmax(np.abs(numeric.left), np.abs(numeric.right))
    error = np.where(stepped, slope, numeric.error)
    size = np.fmax(np.abs(analytic), np.where(stepped, slope, np.abs(numeric.value)))
    with np.errstate(over="ignore"):  # Infinity is no less true of what is that large.
        moves = (size + error) * np.maximum(reach, 1.0)
    # An entry of zero passes wherever the output rests, and shows nothing about the others.
    known = bool(((decision == Decision.PASS) & (analytic != 0)).any())
    clear = known | (error <= ROUGHLY_KNOWN * size) | (moves <= NEXT_TO_NOTHING)
    return np.asarray((decision == Decision.UNVERIFIED) & (error <= rounding_floor) & clear)


def is_below_rounding_floor(
    analytic: FloatArray, numeric: Estimate, rounding_floor: FloatArray
) -> BoolArray:
    """Flag entries that are lost in roundings on both sides, so that their values mean nothing.

    NaN on the analytic side and unknown values on the numeric side are never flagged.
    """
    sided = np.isin(numeric.status, (Status.STEPPED, Status.KINK))
    slope = np.fmax(np.abs(numeric.left), np.abs(numeric.right))
    bound = np.where(sided, slope, np.abs(numeric.value) + numeric.error)
    return np.asarray((np.abs(analytic) <= rounding_floor) & (bound <= rounding_floor))


def is_inside(analytic: FloatArray, numeric: Estimate, tolerance: Tolerance) -> BoolArray:
    """Flag analytic values that lie within value ± (error + tolerance)."""
    allowed = tolerance.allowed(analytic, numeric.value) + numeric.error
    nothing = (numeric.status == Status.FLAT) & (np.abs(analytic) <= tolerance.flat_tolerance())
    return np.asarray((np.abs(analytic - numeric.value) <= allowed) | nothing)


def is_between(analytic: FloatArray, numeric: Estimate, tolerance: Tolerance) -> BoolArray:
    """Flag analytic values that are subgradients: between the one-sided slopes.

    A slope that is not known sets no bound.
    """
    low = np.nan_to_num(np.minimum(numeric.left, numeric.right), nan=-np.inf, posinf=np.inf)
    high = np.nan_to_num(np.maximum(numeric.left, numeric.right), nan=np.inf, neginf=-np.inf)
    slack = tolerance.allowed(analytic, np.fmax(np.abs(numeric.left), np.abs(numeric.right)))
    # Otherwise an infinite slope would widen the interval on its finite side too.
    slack = np.nan_to_num(slack, nan=0.0, posinf=0.0)
    return (analytic >= low - slack) & (analytic <= high + slack)


def block_scale(analytic: FloatArray, numeric: Estimate, blocks: Sequence[slice]) -> FloatArray:
    """Return for each row the largest value, on either side, in the block of rows it belongs to."""
    size = np.fmax(np.abs(analytic), np.abs(numeric.value))
    size = np.where(np.isfinite(size), size, 0.0)
    scale = np.zeros(len(analytic))
    for block in blocks:
        scale[block] = size[block].max(initial=0.0)
    return scale
