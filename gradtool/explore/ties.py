"""Entries that are equal: together they must have the slope of moving all of them at once.

Where a maximum is taken by several entries each may get any share of its gradient, and no share is
righter than another. But the shares add up to one: along the direction that moves all of them
alike the function is smooth, and the gradient along it is its slope. A gradient that has another
one than the exact gradient is suspected; a full check at the variant decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from gradtool.explore.point import Point, Variant
from gradtool.explore.traits import is_integral, traits
from gradtool.verify.protocol.observation import Array

_SMALLEST, _LARGEST = 1e-3, 1e3
"""Sizes between which a step of one size suits all entries: those of a full check."""

_DIFFERENCE = 1e-3
"""Part of a slope that a mistake changes at least: a share of a maximum is a half or more."""


def ties(point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants with equal entries: the two largest or smallest along an axis, or a pair."""
    movable = [at for at, array in point.continuous() if at in point.tracked and _may_tie(array)]
    for at in movable:
        for axis in dict.fromkeys((point.values[at].ndim - 1, 0)):
            for largest in (True, False):
                yield from _extremes(point, at, axis, rng, largest=largest)
    for one, other in itertools.pairwise(movable):
        if point.values[one].shape == point.values[other].shape:
            yield from _pairs(point, one, other, rng)


def _may_tie(array: Array) -> bool:
    if array.dtype.kind != "f" or is_integral(array) or traits(array):
        return False
    size = np.abs(array)
    return bool(size.min(initial=1.0) > _SMALLEST and size.max(initial=1.0) < _LARGEST)


def _extremes(
    point: Point, at: int, axis: int, rng: np.random.Generator, *, largest: bool
) -> Iterator[Variant]:
    array = point.values[at]
    if array.ndim == 0 or array.shape[axis] < 2:
        return
    order = np.argsort(array, axis=axis)
    chosen = np.take(order, [-1, -2] if largest else [0, 1], axis=axis)
    tied, along = array.copy(), np.zeros_like(array)
    extreme = np.take_along_axis(array, np.take(chosen, [0], axis=axis), axis=axis)
    np.put_along_axis(tied, chosen, extreme, axis=axis)
    weight = rng.choice([-1.0, 1.0], extreme.shape) * rng.uniform(0.5, 1.5, extreme.shape)
    np.put_along_axis(along, chosen, weight.astype(array.dtype), axis=axis)
    word = "largest" if largest else "smallest"
    change = f"the two {word} entries of `{point.names[at]}` along axis {axis} are equal"
    yield Variant(point.having({at: tied}), change, along={at: along})


def _pairs(point: Point, one: int, other: int, rng: np.random.Generator) -> Iterator[Variant]:
    """Variants of which two tensors are equal, as a whole or in their first row."""
    array, second = point.values[one], point.values[other]
    for rows in (array.shape[0], 1) if array.ndim > 1 and len(array) > 1 else (array.size,):
        chosen = np.zeros(array.shape, bool)
        chosen[:rows] = True
        along = np.where(chosen, rng.choice([-1.0, 1.0], array.shape), 0.0).astype(array.dtype)
        equal = np.where(chosen, array, second).astype(second.dtype)
        where = "" if chosen.all() else " in the first row"
        change = f"`{point.names[one]}` and `{point.names[other]}` are equal{where}"
        yield Variant(point.having({other: equal}), change, along={one: along, other: along})


def same_slope(
    directions: Sequence[Array | None],
    gradients: Sequence[Array | None],
    exact: Sequence[Array | None],
) -> bool:
    """Return True if two gradients have one slope along a direction.

    Args:
        directions: For each argument how it moves; None for one that stays.
        gradients: Those in question, in the order of the arguments.
        exact: Those of forward's own operations, which may be any of those at a tie.
    """
    (found, size), (expected, _) = _along(directions, gradients), _along(directions, exact)
    return abs(found - expected) <= _DIFFERENCE * max(size, abs(expected))


def _along(
    directions: Sequence[Array | None], gradients: Sequence[Array | None]
) -> tuple[float, float]:
    """The slope by some gradients, and the size of its terms."""
    terms = [
        gradient * direction
        for gradient, direction in zip(gradients, directions, strict=True)
        if gradient is not None and direction is not None
    ]
    slope = sum(float(term.sum()) for term in terms)
    return slope, sum(float(np.abs(term).sum()) for term in terms)
