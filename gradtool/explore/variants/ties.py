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
from gradtool.explore.traits import intended_traits, is_bounded_below, is_integral, traits
from gradtool.verify.protocol.observation import Array

_SMALLEST, _LARGEST = 1e-3, 1e3
"""Sizes between which a step of one size suits all entries: those of a full check."""

_DIFFERENCE = 1e-3
"""Part of a slope that a mistake changes at least: a share of a maximum is a half or more."""


_MOST_PAIRS = 6
"""Pairs of tensors that are constant along an axis."""

Line = tuple[int, int]
"""An argument's position, and one of its axes."""


def ties(
    point: Point,
    rng: np.random.Generator,
    *,
    has_order: bool,
    has_sizes: bool,
    may_meet: bool,
    may_equal_constants: bool,
) -> Iterator[Variant]:
    """Yield variants with equal entries: the two largest or smallest along an axis, or a pair.

    Or the last of so many largest ones as a number among the arguments says, and the next one. A
    Function that compares no entries with each other (`has_order`) may still divide by the
    distance of a pair, which is zero where two sets of points meet, if they may (`may_meet`). One
    that takes absolute values (`has_sizes`) may compare those. A prediction may be equal to a
    constant target if a docstring says so (`may_equal_constants`).
    """
    kinds = [*(["largest in size"] if has_sizes else []), "largest", "smallest"]
    movable = [at for at, array in point.continuous() if at in point.tracked and _may_tie(array)]
    extremes = [
        variant
        for at in (movable if has_order else ())
        for axis in dict.fromkeys((point.values[at].ndim - 1, 0))
        for kind in kinds
        for variant in _extremes(point, at, axis, rng, kind)
    ]
    yield from extremes[:1]
    for at in movable if has_order else ():
        yield from _at_ranks(point, at, rng)
    alike = [
        at
        for at, array in point.continuous()
        if (may_equal_constants or at in point.tracked) and _may_be_level(array)
    ]
    for one, other in itertools.pairwise(alike):
        if point.values[one].shape == point.values[other].shape:
            yield from _pairs(point, one, other, rng, may_meet)
        elif point.values[one].ndim > 1 and _row(point, one) == _row(point, other):
            yield _first_rows(point, one, other, rng, may_meet)
    yield from extremes[1:]


def levels(point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants of which one or two tensors are constant along an axis.

    Sums, products and windows of their entries are equal then, so that a maximum of these is tied
    too.
    """
    movable = [
        at for at, array in point.continuous() if at in point.tracked and _may_be_level(array)
    ]
    lines = [(at, axis) for at in movable for axis in _long_axes(point.values[at])]
    pairs = [pair for pair in itertools.combinations(lines, 2) if pair[0][0] != pair[1][0]]
    # What is summed or multiplied entry by entry has one extent.
    pairs.sort(key=lambda pair: _extent(point, pair[0]) != _extent(point, pair[1]))
    for chosen in (*pairs[:_MOST_PAIRS], *((line,) for line in reversed(lines))):
        yield _level(point, chosen, rng)


def _long_axes(array: Array) -> list[int]:
    return [axis for axis, extent in enumerate(array.shape) if extent > 1]


def _extent(point: Point, line: Line) -> int:
    return int(point.values[line[0]].shape[line[1]])


def _level(point: Point, lines: Sequence[Line], rng: np.random.Generator) -> Variant:
    """The variant whose tensors have their first entry everywhere along an axis."""
    made, along = {}, {}
    for at, axis in lines:
        array = point.values[at]
        first = np.take(array, [0], axis)
        weight = rng.choice([-1.0, 1.0], first.shape) * rng.uniform(0.5, 1.5, first.shape)
        made[at] = np.broadcast_to(first, array.shape).copy()
        along[at] = np.broadcast_to(weight, array.shape).astype(array.dtype)
    names = " and ".join(f"`{point.names[at]}` along axis {axis}" for at, axis in lines)
    return Variant(point.having(made), f"all entries of {names} are equal", along=along)


def _may_be_level(array: Array) -> bool:
    return not intended_traits(array) and _is_usual(array)


def _may_tie(array: Array) -> bool:
    """Return True for usual numbers without a trait."""
    return not traits(array) and _is_usual(array)


def _is_usual(array: Array) -> bool:
    if array.dtype.kind != "f" or is_integral(array):
        return False
    size = np.abs(array)
    return bool(size.min(initial=1.0) > _SMALLEST and size.max(initial=1.0) < _LARGEST)


def _extremes(
    point: Point, at: int, axis: int, rng: np.random.Generator, kind: str
) -> Iterator[Variant]:
    array = point.values[at]
    if array.ndim == 0 or array.shape[axis] < 2:
        return
    order = np.argsort(np.abs(array) if kind == "largest in size" else array, axis=axis)
    chosen = np.take(order, [0, 1] if kind == "smallest" else [-1, -2], axis=axis)
    tied, along = array.copy(), np.zeros_like(array)
    extreme = np.take_along_axis(array, np.take(chosen, [0], axis=axis), axis=axis)
    np.put_along_axis(tied, chosen, extreme, axis=axis)
    weight = rng.choice([-1.0, 1.0], extreme.shape) * rng.uniform(0.5, 1.5, extreme.shape)
    np.put_along_axis(along, chosen, weight.astype(array.dtype), axis=axis)
    change = f"the two entries of `{point.names[at]}` that are {kind} along axis {axis} are equal"
    yield Variant(point.having({at: tied}), change, along={at: along})


def _at_ranks(point: Point, at: int, rng: np.random.Generator) -> Iterator[Variant]:
    """Variants in which the entry that is the last of the k largest equals the next one."""
    array = point.values[at]
    order = np.argsort(-np.abs(array), axis=None)
    counts = {point.values[each]: each for each in point.plain if type(point.values[each]) is int}
    for count, name in ((n, point.names[each]) for n, each in counts.items() if 0 < n < array.size):
        chosen = order[[count - 1, count]]
        tied, along = array.copy(), np.zeros_like(array)
        tied.reshape(-1)[chosen] = array.reshape(-1)[chosen[0]]
        along.reshape(-1)[chosen] = rng.choice([-1.0, 1.0])
        change = f"the entry of `{point.names[at]}` that is number `{name}` in size equals the next"
        yield Variant(point.having({at: tied}), change, along={at: along})


def _pairs(
    point: Point, one: int, other: int, rng: np.random.Generator, may_meet: bool
) -> Iterator[Variant]:
    """Variants of which two tensors are equal, as a whole or in their first row.

    Both then have the entries of the one that is positive, if one of them is.
    """
    if is_bounded_below(point.values[other]) and not is_bounded_below(point.values[one]):
        one, other = other, one
    array, second = point.values[one], point.values[other]
    for rows in (array.shape[0], 1) if array.ndim > 1 and len(array) > 1 else (array.size,):
        chosen = np.zeros(array.shape, bool)
        np.atleast_1d(chosen)[:rows] = True  # A scalar has no rows.
        along = np.where(chosen, rng.choice([-1.0, 1.0], array.shape), 0.0).astype(array.dtype)
        equal = np.where(chosen, array, second).astype(second.dtype)
        where = "" if chosen.all() else " in the first row"
        change = f"`{point.names[one]}` and `{point.names[other]}` are equal{where}"
        moved = {one: along, other: along}
        is_row = may_meet and not chosen.all()
        yield Variant(point.having({other: equal}), change, along=moved, has_common_point=is_row)


def _row(point: Point, at: int) -> tuple[int, ...]:
    """The shape of one row of a tensor."""
    return tuple(point.values[at].shape[1:])


def _first_rows(
    point: Point, one: int, other: int, rng: np.random.Generator, may_meet: bool
) -> Variant:
    """The variant in which two sets of points, of different numbers, have a point in common."""
    first = point.values[one][0]
    equal = point.values[other].copy()
    equal[0] = first
    along = {at: np.zeros_like(point.values[at]) for at in (one, other)}
    direction = rng.choice([-1.0, 1.0], first.shape)
    for each in along.values():
        each[0] = direction
    change = f"`{point.names[one]}` and `{point.names[other]}` are equal in the first row"
    return Variant(point.having({other: equal}), change, along=along, has_common_point=may_meet)


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
