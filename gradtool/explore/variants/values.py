"""Variants with other values of the tensors: other numbers, other scales, other signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.names import is_grid
from gradtool.explore.traits import (
    is_counted,
    is_of_both_signs,
    is_scalable,
    may_be_reordered,
    redrawn,
    restored,
    traits,
)
from gradtool.verify.protocol.observation import Array

_NEGLIGIBLE = 2.0**-26
"""Below it the square of a number changes one by nothing: any function looks like its tangent."""

_TINY = 2.0**-40
"""Beside one, such a number has three digits left."""

_FAR = 2e4
"""A number of which a hundredth part has an exponential that is near the end of float64's range."""

_SATURATING = 50.0
"""A number whose sigmoid is one in float64, and whose exponential is far from overflowing."""

_SCALES = (4.0, 0.25, 32.0, 2.0**-10, 2.0**10)

_MIXED = (1.0, 6.0, 0.1, 2.5, 0.6)
"""Factors of neighbouring entries."""

_NEARLY_ONE = 0.95
"""A norm at which powers of a matrix decay slowly."""

_UNSATURATED = 2.0**-10
"""Factor by which values are so small that a bounded function is nearly linear there."""

_MODERATE_SCALES = (4.0, 2.0)


def movable_tensors(point: Point) -> list[int]:
    """The positions of tensors whose values have no meaning of their own, as counts have."""
    return [
        at
        for at, array in point.continuous()
        if array.size and not is_counted(array, is_tracked=at in point.tracked)
    ]


def near(point: Point, thresholds: Sequence[float], rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants with entries on both sides of numbers that the source compares with."""
    for threshold in thresholds:
        for at in movable_tensors(point):
            array = point.values[at]
            if traits(array) or at not in point.tracked or array.dtype.kind != "f":
                continue
            size = np.abs(threshold) * rng.uniform(0.6, 1.6, array.shape)
            # One number may be of either sign, as the logarithm of a scale is.
            for each in (size, -size) if array.size == 1 else (np.copysign(size, array),):
                change = f"values of `{point.names[at]}` are about {threshold:g}"
                yield Variant(point.having({at: each}), change)


def values(
    point: Point,
    rng: np.random.Generator,
    *,
    is_scaled: bool = True,
    is_exact_near_zero: bool = False,
) -> Iterator[Variant]:
    """Yield variants of other values, with the shapes of the case.

    Args:
        point: The arguments of the case.
        rng: For the values.
        is_scaled: Some are much larger or smaller than those of the case.
        is_exact_near_zero: Forward has all digits for the smallest ones.
    """
    movable = movable_tensors(point)
    if not movable:
        return
    drawn = point.having({at: redrawn(point.values[at], rng) for at in movable})
    yield Variant(drawn, "the values are different")
    yield from _ordinary(point, movable if is_scaled else (), rng)
    yield from _tiny(drawn, movable if is_scaled and is_exact_near_zero else ())
    for scale in _SCALES if is_scaled else ():
        for at in movable:
            if is_scalable(drawn.values[at]):
                scaled = restored(drawn.values[at], drawn.values[at] * scale)
                change = f"values of `{point.names[at]}` are {scale:g} times as large"
                yield Variant(drawn.having({at: scaled}), change)
        if scale == _SCALES[0]:
            for at in movable:
                if is_of_both_signs(drawn.values[at]):
                    flipped = restored(point.values[at], -drawn.values[at])
                    change = f"values of `{point.names[at]}` have the opposite sign"
                    yield Variant(drawn.having({at: flipped}), change)


def turned_back(point: Point) -> Iterator[Variant]:
    """Yield variants in which one tensor of unit vectors, all of one sign, points the other way."""
    for at in movable_tensors(point):
        array = point.values[at]
        has_unit_rows = any(each.name == "unit rows" for each in traits(array))
        if has_unit_rows and array.min() >= 0:
            change = f"values of `{point.names[at]}` have the opposite sign"
            yield Variant(point.having({at: -array}), change)


def far(point: Point, *, is_any_size: bool) -> Iterator[Variant]:
    """Yield variants of numbers whose exponentials overflow, if those may be given.

    Where forward has no value for one of the signs, it may have one for the other.
    """
    made = _about(point, _FAR) if is_any_size else {}
    if made:
        yield Variant(point.having(made), f"values are about {_FAR:g}, of either sign")
        sizes = {at: np.abs(each) for at, each in made.items()}
        yield Variant(point.having(sizes), f"values are about {_FAR:g}")
        negative = {at: -each for at, each in sizes.items()}
        yield Variant(point.having(negative), f"values are about {-_FAR:g}")


def saturated(point: Point) -> Iterator[Variant]:
    """Yield variants of numbers whose sigmoids are zero and one, and whose softmax is one."""
    for at, label in product(sorted(point.tracked), sorted(point.tensors)):
        array, labels = point.values[at], point.values[label]
        if array.dtype == np.float64 and _are_labels(labels, array):
            certain = array.copy()
            np.put_along_axis(certain, labels[..., None], _SATURATING, -1)
            change = f"`{point.names[at]}` is {_SATURATING:g} at each of `{point.names[label]}`"
            yield Variant(point.having({at: certain}), change)
    made = _about(point, _SATURATING)
    if made:
        yield Variant(point.having(made), f"values are about {_SATURATING:g}, of either sign")


def _are_labels(labels: Array, array: Array) -> bool:
    """Return True for a place along the last axis of each row."""
    is_index = labels.dtype.kind in "iu" and labels.size and labels.shape == array.shape[:-1]
    return bool(is_index and labels.min() >= 0 and labels.max() < array.shape[-1])


def _about(point: Point, size: float) -> dict[int, Array]:
    """Numbers of about a size, of either sign, in what is differentiated.

    Of two tensors one is large where the other is small, so that differences are large too.
    """
    places = [
        at
        for at, array in point.continuous()
        if at in point.tracked and array.dtype == np.float64 and is_of_both_signs(array)
    ]
    made = {}
    for number, at in enumerate(places):
        array = point.values[at]
        # Labels often alternate, with which the signs must not.
        signs = np.take((-1.0, 1.0, 1.0, -1.0), np.arange(array.size), mode="wrap")
        turns = (-1) ** number * signs.reshape(array.shape)
        made[at] = restored(array, turns * (size + np.abs(array)))
    return made


def mixed(point: Point) -> Iterator[Variant]:
    """Yield a variant whose entries have very different sizes, and signs where they may differ."""
    made = {}
    for at in movable_tensors(point):
        array = point.values[at]
        if at not in point.tracked or not is_scalable(array) or array.size < 2:
            continue
        signs = (1.0, -1.0) if is_of_both_signs(array) else (1.0, 1.0)
        turns = np.arange(array.size)
        factors = np.take(_MIXED, turns, mode="wrap") * np.take(signs, turns // 2, mode="wrap")
        made[at] = restored(array, (array * factors.reshape(array.shape)).astype(array.dtype))
    if made:
        yield Variant(point.having(made), "entries have very different sizes")


def small(point: Point) -> Iterator[Variant]:
    """Yield a variant whose values are all smaller than what guards a division."""
    scaled = {
        at: point.values[at] * _SCALES[-2]
        for at in movable_tensors(point)
        if at in point.tracked and is_scalable(point.values[at])
    }
    if scaled:
        yield Variant(point.having(scaled), "values are about a thousand times smaller")


def larger(point: Point, bound_of_norm: float) -> Iterator[Variant]:
    """Yield variants of which one tensor has larger values, but not much larger ones.

    A matrix of a norm below one, by which an iteration may contract, keeps one below the bound.
    """
    nearly = _NEARLY_ONE * bound_of_norm
    for at in movable_tensors(point):
        norm = _contraction(point.values[at])
        if norm and at in point.tracked:
            # Rounds that are too few show most where each changes little.
            scaled = point.values[at] * (nearly / norm)
            change = f"the norm of `{point.names[at]}` is {nearly:.2g}"
            yield Variant(point.having({at: scaled}), change)
            # Where a bounded function saturates, it contracts by itself.
            small = {
                other: restored(array, array * _UNSATURATED)
                for other, array in point.continuous()
                if other != at and other in point.tracked and is_scalable(array)
            }
            if small:
                made = point.having({**small, at: scaled})
                yield Variant(made, f"{change}, and others are small")
                slow = _with_radius(point.values[at], nearly)
                made = point.having({**small, at: slow})
                yield Variant(made, f"`{point.names[at]}` is symmetric, {change}")
    for scale in _MODERATE_SCALES:
        for at in movable_tensors(point):
            array = point.values[at]
            is_free = not _contraction(array) or 0 < _contraction(array * scale) < bound_of_norm
            if is_scalable(array) and at in point.tracked and is_free:
                change = f"values of `{point.names[at]}` are {scale:g} times as large"
                yield Variant(point.having({at: restored(array, array * scale)}), change)


def _with_radius(array: Array, radius: float) -> Array:
    """The symmetric part of a matrix, scaled to a norm that one of its eigenvalues has too."""
    symmetric = array + array.T
    return np.asarray(symmetric * (radius / np.linalg.norm(symmetric, 2)))


def _contraction(array: Array) -> float:
    """The norm of a square matrix if it is below one, else 0."""
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        return 0.0
    norm = float(np.linalg.norm(array, 2))
    return norm if norm < 1 else 0.0


def _tiny(point: Point, movable: Sequence[int]) -> Iterator[Variant]:
    """Yield variants so small that the difference of one and an exponential has few digits."""
    for at in movable:
        array = point.values[at]
        if at in point.tracked and array.dtype == np.float64 and is_scalable(array):
            made = restored(array, array * _TINY)
            change = f"values of `{point.names[at]}` are {_TINY:g} times as large"
            yield Variant(point.having({at: made}), change)


def falling(point: Point, *, needs_order: bool) -> Iterator[Variant]:
    """Yield variants in which rising numbers fall, or neighbors do, unless all have to rise."""
    for at, array in point.continuous():
        names = [trait.name for trait in traits(array)]
        is_in_order = at in point.tracked and names in (["sorted"], ["descending"])
        if is_in_order and not needs_order and not is_grid(point.names[at]):
            change = f"the entries of `{point.names[at]}` are in the opposite order"
            yield Variant(point.having({at: np.flip(array, -1).copy()}), change)
            places = np.arange(array.shape[-1])
            places = np.minimum(places ^ 1, places[-1])  # The last one may have no neighbor.
            if len(np.unique(places)) == len(places) > 2:
                change = f"neighbors of `{point.names[at]}` have changed places"
                yield Variant(point.having({at: array[..., places]}), change)


def reversed_axes(point: Point) -> Iterator[Variant]:
    """Yield variants in which all entries along an axis are in the opposite order.

    That turns the orientation of a polygon around, and a rising sequence into a falling one.
    """
    movable = {at: array for at, array in point.continuous() if may_be_reordered(array)}
    for axis in range(max((array.ndim for array in movable.values()), default=0)):
        turned = {at: np.flip(array, axis) for at, array in movable.items() if axis < array.ndim}
        changed = {at: a.copy() for at, a in turned.items() if not np.array_equal(a, movable[at])}
        if changed:
            names = " and ".join(f"`{point.names[at]}`" for at in changed)
            change = f"the entries of {names} along axis {axis} are reversed"
            yield Variant(point.having(changed), change)


def _ordinary(point: Point, movable: Sequence[int], rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants of ordinary size, where the case's values are next to nothing beside one."""
    for at in movable:
        array = point.values[at]
        largest = np.abs(array).max(initial=0.0)
        if 0 < largest < _NEGLIGIBLE and is_scalable(array):
            made = restored(array, redrawn((array / largest).astype(array.dtype), rng))
            change = f"values of `{point.names[at]}` are about 1"
            yield Variant(point.having({at: made}), change)
