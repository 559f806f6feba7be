"""Gradients at ties and kinks: each must be a mean of the gradients around the point.

Where several entries attain a maximum, each may get any share of its gradient, and no share is
righter than another. But the shares add up to one: along the direction that moves all of them
alike the maximum has a slope. Each entry by itself lies between the slopes on both of its sides;
all of them together have to lie in the convex hull of the gradients next to the point (Clarke,
"Optimization and Nonsmooth Analysis", 1983).

The gradients next to the point are those of a few looks around it, too few to span the hull. They
only propose the direction along which the gradient at the point stands out the most. Evaluations
decide: forward has to be less steep along it, from both sides. That convicts where forward is
convex or concave around the point, as far as the looks show. Where it is neither, as the median of
equal numbers, only a direction along which all looks have the same slope convicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from gradtool.verify.comparison.analytic import analytic_jacobian
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.oracle.estimate import Status
from gradtool.verify.oracle.steps import epsilon, scales
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.comparison import (
    BESIDE_KINK,
    HULL_DIFFERENCE,
    HULL_LOOKS,
    HULL_MOST_ROWS,
    HULL_NOISE,
    HULL_PROJECTION_STEPS,
    HULL_ROUNDS,
    HULL_STEPS,
)

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison, Derivatives


class Tie(msgspec.Struct, frozen=True):
    """The direction along which a gradient is steeper than forward, in the worst row.

    `claimed` is its slope there, `found` the nearest one that forward has.
    """

    row: int
    claimed: float
    found: float


def outside_hull(
    at: Derivatives, comparisons: Sequence[Comparison], point: Sequence[Array]
) -> tuple[Comparison, ...]:
    """Fail the entries of gradients that are no mean of the gradients around the point.

    Args:
        at: The function at the point, which has ties or kinks there.
        comparisons: Those of its arguments.
        point: The point, in the precision of evaluations.

    Returns:
        The same comparisons, of which some may have entries that fail, and their `tie`.
    """
    if at.layout.functionals is not None or any(
        at.layout.directions[each.argument] is not None for each in comparisons
    ):
        return tuple(comparisons)
    rows = np.flatnonzero(_is_in_question(at, comparisons))[:HULL_MOST_ROWS]
    if not len(rows):
        return tuple(comparisons)
    try:
        with np.errstate(all="ignore"):
            return _Hull(at, comparisons, point).judged(rows)
    except Exception:  # The user's code need not be defined around the point.
        return tuple(comparisons)


def _is_in_question(at: Derivatives, comparisons: Sequence[Comparison]) -> BoolArray:
    """Flag rows with a kink, or a slope hidden from coordinates, but no jump.

    The exact derivative is a mean: forward's own operations share out a gradient so.
    """
    rows = len(comparisons[0].analytic)
    open_, jumps, equal = np.zeros(rows, bool), np.zeros(rows, bool), np.ones(rows, bool)
    for each in comparisons:
        kinked = each.numeric.status == Status.KINK
        open_ |= (kinked | (each.decision == Decision.FAIL)).any(axis=1)
        open_ |= at.is_unlike_witness(each)
        slopes = np.stack([each.numeric.left, each.numeric.right])
        jumps |= (kinked & ~np.isfinite(slopes).all(axis=0)).any(axis=1)
        jumps |= ~np.isfinite(each.analytic).all(axis=1)
        if each.exact is None:
            equal[:] = False
        else:
            near = np.abs(each.analytic - each.exact) <= each.tolerance.allowed(
                each.analytic, each.exact
            )
            equal &= near.all(axis=1)
    return open_ & ~equal & ~jumps


class _Hull:
    """The gradients around a point, in units of the inputs' scales."""

    def __init__(
        self, at: Derivatives, comparisons: Sequence[Comparison], point: Sequence[Array]
    ) -> None:
        self._at, self._comparisons, self._point = at, comparisons, point
        self._arguments = [each.argument for each in comparisons]
        self._scales = np.concatenate([scales(at.primals[i]) for i in self._arguments])
        witnessed = all(each.exact is not None for each in comparisons)
        self._function = at.recorded if witnessed and at.recorded else at.function
        self._moves = self._signs()
        self._looks = [self._look(move) for move in self._moves]

    def judged(self, rows: Sequence[int] | NDArray[np.intp]) -> tuple[Comparison, ...]:
        """The comparisons, with the entries of these rows failed that stand out."""
        found = {int(row): away for row in rows if (away := self._stands_out(int(row)))}
        return tuple(self._failed(number, found) for number in range(len(self._comparisons)))

    def _failed(self, number: int, found: dict[int, tuple[FloatArray, Tie]]) -> Comparison:
        comparison = self._comparisons[number]
        stop = sum(each.analytic.shape[1] for each in self._comparisons[: number + 1])
        columns = slice(stop - comparison.analytic.shape[1], stop)
        decision, tie = comparison.decision.copy(), None
        for row, (along, of_row) in found.items():
            wrong = np.abs(along[columns]) > HULL_DIFFERENCE * np.abs(along).max()
            if wrong.any():
                decision[row, wrong] = Decision.FAIL
                tie = tie or of_row
        return replace(comparison, decision=decision, tie=tie) if tie else comparison

    def _signs(self) -> FloatArray:
        """Moves to all sides, each with its opposite; the first moves all entries one way."""
        rng = generator(self._at.seed, "around a tie")
        moves = signed(rng, (HULL_LOOKS, len(self._scales)))
        moves[0] = np.abs(moves[0])
        return np.concatenate([moves, -moves])

    def _look(self, move: FloatArray) -> FloatArray:
        """The Jacobian next to the point."""
        primals = self._moved(self._at.primals, BESIDE_KINK, move)
        scaling = self._at.analytic.scaling
        found = analytic_jacobian(self._function, primals, self._at.layout, scaling, at_once=True)
        rows = np.concatenate([found.matrices[i] for i in self._arguments], axis=1)
        return np.asarray(rows * self._scales)

    def _moved(self, primals: Sequence[Array], step: float, along: FloatArray) -> list[Array]:
        point, start = list(primals), 0
        for argument in self._arguments:
            point[argument] = np.array(primals[argument], order="C")
            flat = real_view(point[argument])
            part = slice(start, start + len(flat))
            flat += (step * along[part] * self._scales[part]).astype(flat.dtype)
            start = part.stop
        return point

    def _stands_out(self, row: int) -> tuple[FloatArray, Tie] | None:
        """The direction along which the gradient of a row stands out; None where none does."""
        analytic = np.concatenate([each.analytic[row] for each in self._comparisons])
        own = analytic * self._scales
        looks = np.array([look[row] for look in self._looks])
        if not self._is_bent_one_way(looks):
            away = own - _level(own, looks)
            return self._steeper(row, own, looks, away) if _is_spanned(own, looks) else None
        for _ in range(HULL_ROUNDS):
            away = own - _nearest(own, looks)
            # What is left of entries with one slope is curvature, or the end of the search.
            if not np.abs(away).max() > HULL_DIFFERENCE * np.abs(own - looks).max():
                return None
            found = self._steeper(row, own, looks, away)
            if found:
                return found
            # Forward is as steep as the gradient along it: the gradient there was not looked at.
            along = away / np.abs(away).max()
            looks = np.array([*looks, self._look(along)[row], self._look(-along)[row]])
        return None

    def _steeper(
        self, row: int, own: FloatArray, looks: FloatArray, away: FloatArray
    ) -> tuple[FloatArray, Tie] | None:
        """The direction `away` of the looks, if forward has no slope like the gradient's along it.

        Where all looks have one slope along it, forward must have it too, from both sides.
        """
        size = float(np.abs(away).max(initial=0.0))
        if not size > HULL_DIFFERENCE * np.abs(own - looks).max(initial=0.0):
            return None
        along = away / size
        claimed, seen = float(own @ along), looks @ along
        terms = float((np.abs([own, *looks]) @ np.abs(along)).max())
        is_one = bool(np.ptp(seen) <= HULL_DIFFERENCE * terms)
        for step in HULL_STEPS:
            slopes, noise = self._slopes(row, along, step)
            allowed = HULL_DIFFERENCE * terms + noise
            found = max(slopes)
            if is_one and max(abs(slope - seen[0]) for slope in slopes) > allowed:
                return None
            if claimed <= max(found, seen.max()) + allowed:
                return None
        longest = float(np.abs(along * self._scales).max())
        return along, Tie(row, claimed / longest, found / longest)

    def _is_bent_one_way(self, looks: FloatArray) -> bool:
        """Return True if the function is convex or concave, as far as the looks show.

        The gradient on one side of a convex function is the steepest of all in that direction.
        """
        slopes = looks @ self._moves.T
        allowed = HULL_DIFFERENCE * (np.abs(looks) @ np.abs(self._moves).T).max()
        above = slopes - np.diagonal(slopes)
        return bool((above <= allowed).all() or (above >= -allowed).all())

    def _slopes(self, row: int, along: FloatArray, step: float) -> tuple[list[float], float]:
        """Forward's slopes along a direction, from both sides, and the noise in them."""
        here, ahead, back = (
            float(self._evaluated(self._moved(self._point, side * step, along))[row])
            for side in (0.0, 1.0, -1.0)
        )
        eps = max(epsilon(self._point[i].dtype) for i in self._arguments)
        noise = HULL_NOISE * eps * max(abs(here), abs(ahead), abs(back)) / step
        return [(ahead - here) / step, (here - back) / step], noise

    def _evaluated(self, point: Sequence[Array]) -> FloatArray:
        return self._at.layout.outputs.flatten(self._at.function.evaluate(point))


def _nearest(vector: FloatArray, points: FloatArray) -> FloatArray:
    """The point of the convex hull of some points that is nearest to a vector, roughly.

    By steps towards the farthest of the points (Frank and Wolfe, 1956).
    """
    found = np.asarray(points.mean(axis=0))
    for _ in range(HULL_PROJECTION_STEPS):
        rest = vector - found
        towards = points[int(np.argmax(points @ rest))] - found
        length, gain = float(towards @ towards), float(rest @ towards)
        if length == 0.0 or gain <= 0.0:
            break
        found = found + min(gain / length, 1.0) * towards
    return np.asarray(found)


def _level(vector: FloatArray, points: FloatArray) -> FloatArray:
    """The nearest point to a vector on the plane through some points."""
    centre = points.mean(axis=0)
    (weights, *_) = np.linalg.lstsq((points - centre).T, vector - centre, rcond=HULL_DIFFERENCE)
    return np.asarray(centre + (points - centre).T @ weights)


def _is_spanned(own: FloatArray, looks: FloatArray) -> bool:
    """Return True if the looks are enough to span the plane that they lie on.

    They are where few entries vary, and every entry that stands out is one of them.
    """
    size = HULL_DIFFERENCE * np.abs([own, *looks]).max()
    varies = np.ptp(looks, axis=0) > size
    stands_out = (np.abs(looks - own) > size).all(axis=0)
    return bool((varies | ~stands_out).all() and varies.sum() <= len(looks) // 2)
