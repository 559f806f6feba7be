"""Kinks that are only near: evaluations cannot step between them and the point, the witness can.

Where two tensors nearly agree their maximum looks like a kink from every distance that a quotient
can resolve. The witness has a derivative at the point itself, and tells whether forward's own
operations have a tie there: moved by a few roundings, to either side, it changes. Where it does
not, only its value is right, provided that the witness shows both slopes that evaluations found a
little farther out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from gradtool.verify.comparison.analytic import analytic_jacobian
from gradtool.verify.comparison.tolerance import Tolerance
from gradtool.verify.oracle.estimate import Estimate, Status
from gradtool.verify.oracle.steps import epsilon, scales
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray, real_view
from gradtool.verify.randomness import generator
from gradtool.verify.thresholds.comparison import (
    BESIDE_KINK,
    TIE_LOOKS,
    TIE_NOISE,
    TIE_ROUNDINGS,
    TIE_ROWS,
)
from gradtool.verify.thresholds.steps import KINK_SLOPE_DIFFERENCE

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison, Derivatives


def narrowed(
    at: Derivatives,
    argument: int,
    numeric: Estimate,
    exact: FloatArray,
    tolerance: Tolerance,
    noise: FloatArray,
) -> Estimate:
    """Let only the exact value pass where a kink is near and none is at the point.

    Args:
        at: The function, with its witness.
        argument: The argument in question.
        numeric: What evaluations show.
        exact: The derivative of the recorded forward, which they do not contradict.
        tolerance: The tolerance of the entries.
        noise: The noise of each output.
    """
    analytic, slopes = at.analytic.matrices[argument], np.stack([numeric.left, numeric.right])
    with np.errstate(all="ignore"):
        kinked = (numeric.status == Status.KINK) & np.isfinite(slopes).all(axis=0)
        # What the exact derivative acquits needs no look.
        kinked &= np.abs(analytic - exact) > tolerance.allowed(analytic, exact)
        if not kinked.any() or at.layout.directions[argument] is not None:
            return numeric
        try:
            kinked &= _is_only_near(at, argument, exact, kinked, slopes, tolerance, noise)
        except Exception:  # The user's code need not be defined around the point.
            return numeric
    left, right = (np.where(kinked, exact, slope) for slope in slopes)
    return replace(numeric, left=left, right=right)


def _is_only_near(
    at: Derivatives,
    argument: int,
    exact: FloatArray,
    kinked: BoolArray,
    slopes: FloatArray,
    tolerance: Tolerance,
    noise: FloatArray,
) -> BoolArray:
    """Flag entries where the witness has no tie at the point, and both slopes beside it."""
    tie = _tie(at, argument, np.where(kinked, np.abs(slopes[1] - slopes[0]), np.inf), noise)
    allowed = tolerance.allowed(exact, exact) + KINK_SLOPE_DIFFERENCE * np.abs(slopes).max(axis=0)
    same = [_is_near(look, exact, allowed) for look in _looks(at, argument, tie)]
    if not (kinked & np.all(same, axis=0)).any():
        return np.zeros_like(kinked)
    beside = np.maximum(BESIDE_KINK * scales(at.primals[argument]), TIE_ROUNDINGS * tie)
    looks = list(_looks(at, argument, beside))
    shown = [np.any([_is_near(look, one, allowed) for look in looks], axis=0) for one in slopes]
    return np.asarray(np.all([*same, *shown], axis=0))


def has_no_tie(at: Derivatives, wrong: Comparison, chosen: BoolArray, noise: FloatArray) -> bool:
    """Return True if the witness stays the same a few roundings to all sides of the point.

    Args:
        at: The function, with its witness.
        wrong: A comparison whose exact derivative evaluations agree with.
        chosen: The wrong entries, which the answer is about.
        noise: The noise of each output.
    """
    if (exact := wrong.exact) is None:
        return False
    with np.errstate(all="ignore"):
        width = np.where(chosen, np.abs(wrong.analytic - exact), np.inf)
        allowed = wrong.tolerance.allowed(exact, exact) + KINK_SLOPE_DIFFERENCE * np.abs(exact)
        rows = _worst_rows(np.where(chosen, width, 0.0))
        try:
            looks = _looks(at, wrong.argument, _tie(at, wrong.argument, width, noise), rows)
            return all(_is_near(look, exact, allowed)[rows][chosen[rows]].all() for look in looks)
        except Exception:  # The user's code need not be defined around the point.
            return False


def _worst_rows(difference: FloatArray) -> NDArray[np.intp]:
    """The rows with the largest differences, a few: each one more is a run of backward a look."""
    largest = difference.max(axis=1, initial=0.0)
    found = np.argsort(-largest, kind="stable")[:TIE_ROWS]
    return np.asarray(found[largest[found] > 0])


def _tie(at: Derivatives, argument: int, width: FloatArray, noise: FloatArray) -> FloatArray:
    """The distance within which numbers are equal up to the roundings that forward computes with.

    `width` is the difference that a tie makes in each entry.
    """
    eps = max(float(at.layout.eps().max()), epsilon(at.primals[argument].dtype))
    reach = TIE_NOISE * np.max(noise[:, None] / width, axis=0)
    return np.asarray(TIE_ROUNDINGS * eps * scales(at.primals[argument]) + reach)


def _looks(
    at: Derivatives, argument: int, reach: FloatArray, rows: NDArray[np.intp] | None = None
) -> Iterator[FloatArray]:
    """The exact derivative on opposite sides of the point, along a few diagonals.

    Only these `rows` of it, if some are given.
    """
    assert at.recorded is not None
    rng = generator(at.seed, "beside kinks")
    for _ in range(TIE_LOOKS):
        signs = rng.choice([-1.0, 1.0], reach.shape)
        for side in (1.0, -1.0):
            moved = np.array(at.primals[argument], order="C")
            real_view(moved)[:] += side * signs * reach
            point = (*at.primals[:argument], moved, *at.primals[argument + 1 :])
            found = analytic_jacobian(
                at.recorded, point, at.layout, at.analytic.scaling, at_once=True, chosen=rows
            )
            yield found.matrices[argument]


def _is_near(one: FloatArray, other: FloatArray, allowed: FloatArray) -> BoolArray:
    return np.asarray(np.abs(one - other) <= allowed)
