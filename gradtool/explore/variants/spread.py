"""Variants with many entries of a tensor without a gradient, spread over the range of the cases.

A few positions at which a table is read are unlikely to reach each of its cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from gradtool.explore.point import Axis, Point, Variant
from gradtool.explore.reading.names import is_mark
from gradtool.explore.traits import is_integral, restored, traits
from gradtool.explore.variants.axis_groups import axis_groups
from gradtool.explore.variants.extents import Extents, resized
from gradtool.verify.protocol.observation import Array

_MANY = 33
"""Entries along the longer axis."""


def spread(
    point: Point, points: Sequence[Point], known: Extents, rng: np.random.Generator
) -> Iterator[Variant]:
    """Yield variants in which one axis of such a tensor is long, and others are as they have to be.

    Args:
        point: The arguments of the case.
        points: Those of all cases.
        known: What is known of the axes.
        rng: For the entries.
    """
    left = set(_measured(point, points))
    for group in axis_groups(point, known.fixed, known.names):
        tensors = Counter(at for at, _ in group.axes)
        chosen = {at: axis for at, axis in group.axes if at in left and tensors[at] == 1}
        longer = resized(point, [(group, _MANY)], rng, known.repeats) if chosen else None
        if longer is None or group.extent >= _MANY:
            continue
        left -= chosen.keys()
        made = {each[0]: _drawn(point, longer, each, points, rng) for each in chosen.items()}
        names = " and ".join(f"`{point.names[at]}`" for at in made)
        verb = "has" if len(made) == 1 else "have"
        change = f"{names} {verb} {_MANY} entries over the range of all cases"
        yield Variant(longer.having(made), change)


def _measured(point: Point, points: Sequence[Point]) -> list[int]:
    """The positions of the tensors of numbers that no case gives a gradient, and not all whole."""
    return [
        at
        for at, array in point.continuous()
        if array.dtype.kind == "f" and at not in point.tracked and not is_mark(point.names[at])
        if not any(trait.is_equality for trait in traits(array))
        if _may_be_between(point.names[at], points)
    ]


def _may_be_between(name: str, points: Sequence[Point]) -> bool:
    given = [(at, at.names.index(name)) for at in points if name in at.names]
    arrays = [at.values[place] for at, place in given if place in at.tensors]
    is_constant = all(place not in at.tracked for at, place in given)
    is_finite = all(bool(np.isfinite(each).all()) for each in arrays)
    return is_constant and is_finite and not all(map(is_integral, arrays))


def _drawn(
    point: Point, longer: Point, axis: Axis, points: Sequence[Point], rng: np.random.Generator
) -> Array:
    """The longer tensor, whose new rows are each between two rows of the cases.

    Where a row is a number, these are the least and the largest one.
    """
    at, along = axis
    pool = _pool(point, axis, points)
    rows, given = pool[0], np.concatenate(pool)
    count = longer.values[at].shape[along] - len(rows)
    one, other = rng.integers(0, len(given), (2, count))
    if rows[0].size == 1:
        one, other = (np.full(count, end(given)) for end in (np.argmin, np.argmax))
    part = rng.uniform(0.0, 1.0, (count, *[1] * (rows.ndim - 1)))
    made = np.concatenate([rows, (1 - part) * given[one] + part * given[other]])
    return restored(point.values[at], np.moveaxis(made, 0, along))


def _pool(point: Point, axis: Axis, points: Sequence[Point]) -> list[Array]:
    """The rows of a tensor along an axis at each case where they have the shape of this one."""
    at, along = axis
    found = [np.moveaxis(point.values[at], along, 0)]
    for each in points:
        given = dict(zip(each.names, each.values, strict=True)).get(point.names[at])
        if isinstance(given, np.ndarray) and given.ndim == point.values[at].ndim:
            rows = np.moveaxis(given, along, 0)
            found += [rows] if rows.shape[1:] == found[0].shape[1:] else []
    return found
