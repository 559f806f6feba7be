"""Subgradients: what backward may return at a kink, beside the gradients right next to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import numpy as np

from gradtool.collect.checkable import Checkable
from gradtool.explore.observed import exact_gradients, returned_gradients
from gradtool.explore.point import Point
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator

_NEIGHBORS = 64
"""Points beside a kink with larger numbers, with smaller ones, and with some of either."""

_FIRST = 9
"""Those that show whether there is a kink."""

_STEP = 1e-7
"""Their distance, next to the largest entry of an argument."""

_NEAR = 1e-5
"""Distance of two gradients, next to the largest one, that the curvature between them explains."""

_MOST_ROUNDS = 500


def is_subgradient(checkable: Checkable, point: Point, seed: int) -> bool:
    """Return True if backward returns a mean of the exact gradients next to a kink.

    That is Clarke's generalized gradient, in which each side of a kink has its part.
    """
    found = returned_gradients(checkable, point, seed)
    neighbors = _neighbors(point, seed)
    if not found or not _is_kink(_gradients(checkable, islice(neighbors, _FIRST), found, seed)):
        return False
    gradients = _gradients(checkable, neighbors, found, seed)
    size = float(np.abs(gradients).max(initial=0.0))
    return len(gradients) > 0 and _distance(_flat(found), gradients) <= _NEAR * size


def _gradients(
    checkable: Checkable, points: Iterable[Point], found: Mapping[int, Array], seed: int
) -> Array:
    """The exact gradients at some points, one in each row; empty where one of them has none."""
    rows = [exact_gradients(checkable, each, seed) for each in points]
    if any(row.keys() != found.keys() for row in rows):
        return np.empty((0, 0))
    gradients = np.array([_flat(row) for row in rows])
    return gradients if np.isfinite(gradients).all() else np.empty((0, 0))


def _is_kink(gradients: Array) -> bool:
    size = np.abs(gradients).max(initial=0.0)
    return len(gradients) > 0 and bool(np.ptp(gradients, axis=0).max(initial=0.0) > _NEAR * size)


def _neighbors(point: Point, seed: int) -> Iterator[Point]:
    """Points to all sides of one, in the arguments that have a gradient.

    What counts zero as positive has its gradient next to larger numbers.
    """
    rng = generator(seed, "neighbors")
    tracked = {at: array for at, array in point.continuous() if at in point.tracked}
    for _ in range(_NEIGHBORS):
        steps = {at: rng.standard_normal(array.shape) for at, array in tracked.items()}
        for way in (_as_it_is, np.abs, _down):
            yield point.having(
                {at: _beside(array, way(steps[at])) for at, array in tracked.items()}
            )


def _as_it_is(steps: Array) -> Array:
    return steps


def _down(steps: Array) -> Array:
    return -np.abs(steps)


def _beside(array: Array, steps: Array) -> Array:
    size = float(np.abs(array).max(initial=0.0)) or 1.0
    return np.asarray(array + _STEP * size * steps, array.dtype)


def _flat(gradients: Mapping[int, Array]) -> Array:
    """All entries of some gradients, with the parts of complex ones one after the other."""
    parts = [gradients[at].reshape(-1).astype(np.complex128) for at in sorted(gradients)]
    return np.concatenate([half for each in parts for half in (each.real, each.imag)])


def _distance(found: Array, gradients: Array) -> float:
    """The distance of a vector from the convex hull of some others, by Gilbert's algorithm."""
    nearest = gradients[np.abs(gradients - found).max(axis=1).argmin()]
    for _ in range(_MOST_ROUNDS):
        rest = found - nearest
        step = gradients[np.argmax(gradients @ rest)] - nearest
        along = float(step @ step)
        if along == 0 or step @ rest <= 0:
            break
        nearest = nearest + min(float(step @ rest) / along, 1.0) * step
    return float(np.abs(found - nearest).max(initial=0.0))
