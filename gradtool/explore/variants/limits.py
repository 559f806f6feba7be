"""Variants whose values lie on both sides of what forward or backward compares them with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, product
from typing import Any

import numpy as np

from gradtool.adapters.common.branches import Branch, source_of
from gradtool.adapters.common.value_branches import Compared
from gradtool.explore.coverage import Branches
from gradtool.explore.point import Point, Variant, with_value
from gradtool.explore.reading.comparisons import LARGEST_GUARD, floors_of_logarithms
from gradtool.explore.reading.names import is_guard
from gradtool.explore.traits import (
    alternating,
    is_counted,
    is_of_both_signs,
    restored,
    traits,
)
from gradtool.verify.protocol.observation import Array

_LEAST_LIMIT, _LARGEST_LIMIT = 1e-3, 1e4
"""What is compared with a smaller number guards a division; a larger one is a mark, not a limit."""

_FARTHEST = 64
"""Factor by which values are scaled at most to reach a limit."""

_BEYOND = 0.3
"""Part of a number by which a limit is beyond it."""

_FARTHER = 8.0
"""Factor by which they are scaled where the limit is zero."""

_LIMITS = re.compile(r"clamp|clip|maximum|minimum|max\(|min\(")
"""Matches what limits values, unlike a comparison."""

_EARLIER = 2.0
"""Ratio of a tolerance to what was left after the last round."""

_LEAST_FIT = 2
"""Entries that any two numbers of a line fit."""

_FIT = 1e-9
"""Relative difference of slopes that are the same."""

_WIDE_GUARD = 1e-3
"""A number below which another formula takes over, where that formula has few terms."""

_INSIDE = 0.1
"""Part of such a number that is not zero, and well inside."""

_DIGITS = 12
"""Decimal places of what was a number of the source, or an argument."""

_MOST_MOVED = 2
"""Variants for one limit."""


def beside_limits(point: Point, branches: Branches, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants with values on both sides of each limit.

    Where backward compares something else, as `x` where forward has ``beta * x``, the two differ
    only between both limits, and only for options that are not neutral.

    Args:
        point: The arguments of the case, with other options.
        branches: Those of the Function, with what they compared.
        rng: For the values.
    """
    for branch, compared in branches.limits:
        if is_limit(compared):
            yield from islice(moved(branch, point, compared, rng), _MOST_MOVED)


def moved_limits(point: Point, branches: Branches) -> Iterator[Variant]:
    """Yield variants in which a limit passed as an argument lies among the values that it limits.

    Args:
        point: The arguments of the case, with all defaults.
        branches: Those of the Function, with what they compared.
    """
    for at in point.plain:
        name, before = point.names[at], point.values[at]
        if type(before) not in (int, float) or is_guard(name):
            continue
        for _, compared in branches.limits:
            inner = _among(compared, before)
            if inner is not None:
                yield with_value(point, at, type(before)(round(inner, 2)))
                break


def earlier_stops(point: Point, branches: Branches) -> Iterator[Variant]:
    """Yield variants in which a tolerance is so large that forward stops some rounds earlier.

    Only a backward that is that of all rounds has to know how many there were.

    Args:
        point: The arguments of the case, with all defaults.
        branches: Those of the Function, with what they compared last.
    """
    for at in point.plain:
        name, before = point.names[at], point.values[at]
        if type(before) is not float or not is_guard(name):
            continue
        for _, compared in branches.limits:
            last = _among(compared, before)
            if last is not None and last > before:
                yield with_value(point, at, float(f"{_EARLIER * last:.2g}"))
                break


def _among(compared: Compared, limit: float) -> float | None:
    """The middle of the compared values if all of them are on one side of a limit, else None.

    Of equal ones a number that is a little beyond.
    A width is positive: it stays so.
    """
    bounds, values = compared.limit, compared.value
    is_limit = bounds.size and bounds.dtype.kind in "fiu" and bool((bounds == limit).all())
    if not is_limit or values.dtype.kind != "f" or not np.isfinite(values).all() or not values.size:
        return None
    low, high = float(values.min()), float(values.max())
    within = values[values * limit >= 0]
    if low <= limit <= high or not within.size:
        return None
    if low == high:  # Nothing lies between: the limit goes to the other side of them all.
        return low + _BEYOND * abs(low) * (1 if low > limit else -1)
    return float(np.median(within))


def at_centers(point: Point, branches: Branches) -> Iterator[Variant]:
    """Yield variants with an entry where what forward compares with zero, or nearly zero, is zero.

    There a formula is replaced by its limit, which is not measured anywhere else: ``u / (1 -
    exp(-u))`` for ``u = (v - v0) / k``.
    """
    for branch, compared in branches.limits:
        limit = np.abs(compared.limit).max(initial=0.0) if compared.limit.dtype.kind in "fi" else 1
        is_zero = limit <= (0 if compared.for_equality else LARGEST_GUARD)
        if branch.method != "forward" or not is_zero or _LIMITS.search(source_of(branch)):
            continue
        for at in sorted(point.tracked):
            array = point.values[at]
            center = _center(array, compared.value) if array.dtype == np.float64 else None
            if center is not None:
                moved = array.copy()
                moved.reshape(-1)[0] = center
                change = f"`{point.names[at]}` contains {center:g}"
                yield Variant(point.having({at: moved}), change, is_measured=True)
                if 0 < limit < _WIDE_GUARD:
                    beside = array.copy()
                    beside.reshape(-1)[0] = center + _INSIDE * limit
                    change = f"`{point.names[at]}` contains {center:g} but for {_INSIDE * limit:g}"
                    # As at zero, the formula need not change with what it is for.
                    made = point.having({at: beside})
                    yield Variant(made, change, is_measured=True, is_at_limit=True)


def _center(array: Array, compared: Array) -> float | None:
    """The number at which compared values are zero, which are linear in an array or their sizes."""
    entries, sizes = array.reshape(-1), np.abs(compared.reshape(-1))
    if entries.shape != sizes.shape or sizes.dtype.kind != "f" or not entries.size:
        return None
    if np.array_equal(np.abs(entries), sizes):
        return 0.0
    order = np.argsort(sizes)
    first, last = order[0], order[-1]
    is_line = entries.size > _LEAST_FIT and sizes[first] < sizes[last] < np.inf
    if not is_line:
        return None
    for sign in (1.0, -1.0):
        total = sizes[last] - sign * sizes[first]
        center = (entries[first] * sizes[last] - sign * entries[last] * sizes[first]) / total
        slopes = sizes / np.abs(entries - center).clip(min=np.finfo(float).tiny)
        if np.allclose(slopes, slopes[0], rtol=_FIT):
            return float(np.round(center, _DIGITS))
    return None


def far_floors(function: Any, point: Point, branches: Branches) -> Iterator[Variant]:
    """Yield variants so small that they reach the floor of a logarithm, of which some do not.

    What is limited before its logarithm is taken is meant to be limited: that is the result for
    silence, or for an empty bin.
    """
    floors = floors_of_logarithms(function)
    tracked = [at for at in sorted(point.tracked) if point.values[at].dtype.kind == "f"]
    for _, compared in branches.limits:
        limit = float(np.abs(compared.limit).max(initial=0.0))
        sizes = compared.value[np.isfinite(compared.value)] if compared.value.size else np.zeros(0)
        if not sizes.size or sizes.min() <= limit or limit not in floors:
            continue
        ratio = limit / float(sizes.max())
        for at, power in product(tracked, (1.0, 0.5)):
            turns = np.where(np.arange(point.values[at].size) % 2, 1.0, (0.5 * ratio) ** power)
            small = point.values[at] * turns.reshape(point.values[at].shape)
            if power == 1.0 and small.ndim > 1:
                small[0] = point.values[at][0] * 0.5 * ratio
            array = restored(point.values[at], small.astype(small.dtype))
            change = f"some values of `{point.names[at]}` are near the floor of {limit:g}"
            yield Variant(point.having({at: array}), change, may_be_outside=True)


def is_limit(compared: Compared) -> bool:
    """Return True for what may be a limit rather than a guard of a division or a mark.

    Large numbers are limits of values that are nearly as large.
    """
    limit, values = compared.limit, compared.value
    if limit.dtype.kind not in "fiu" or not limit.size or not np.isfinite(limit).all():
        return False
    size = float(np.abs(limit).max())
    sizes = np.abs(values[np.isfinite(values)]) if values.dtype.kind in "fiu" else np.zeros(0)
    largest = max(_LARGEST_LIMIT, _FARTHEST * float(sizes.max(initial=0.0)))
    return size == 0 or _LEAST_LIMIT < size < largest


def moved(
    branch: Branch, point: Point, compared: Compared, rng: np.random.Generator
) -> Iterator[Variant]:
    """Yield variants whose values lie on both sides of a limit, or are moved towards it."""
    line = f"line {branch.line} of {branch.method}"
    where = f"the threshold on {line}"
    movable = [
        (at, array)
        for at, array in point.continuous()
        if array.size and array.dtype.kind == "f" and at in point.tracked
        if not is_counted(array, is_tracked=True)
        if not any(trait.is_equality for trait in traits(array))
    ]
    for at, array in point.arrays():
        # What no gradient is asked of, as labels, may be any number that forward itself names.
        is_compared = _is_same(array.reshape(-1), compared.value.reshape(-1))
        if at not in point.tracked and is_compared and compared.limit.size == 1:
            limit, is_whole = compared.limit.item(), array.dtype.kind == "i"
            # A limit may guard against what no argument is meant to be.
            is_order = not compared.for_equality and not _LIMITS.search(source_of(branch))
            beside = (limit - 1, limit + 1) if is_whole and is_order else ()
            for mark in (limit, *beside):
                marked = array.copy()
                marked.reshape(-1)[::2] = mark
                change = f"some entries of `{point.names[at]}` are {mark:g}"
                yield Variant(point.having({at: marked}), change)
    if compared.for_equality:
        return
    for at, array in movable:
        if _is_same(array, compared.value):
            limit = np.broadcast_to(compared.limit, array.shape) if _fits(compared, array) else 0.0
            if array.min() > 0 and np.min(limit) > 0:
                near = limit * alternating(array, 0.5, 2.0)
                yield _variant(point, at, near, f"on both sides of {where}, and near it")
            yield _variant(point, at, _around(limit, array, rng), f"on both sides of {where}")
        elif compared.limit.size == 1 and _is_part(compared.value, array):
            yield _variant(
                point, at, _around(compared.limit, array, rng), f"on both sides of {where}"
            )
        elif _is_same(array, compared.limit):
            change = f"on both sides of the numbers that {line} compares with them"
            yield _variant(point, at, _around(compared.value, array, rng), change)
    for at, array in movable:
        for moved, how in _nearer(array, compared):
            yield _variant(point, at, moved, f"{how}, to cross {where}")


def _largest_gap(compared: Compared) -> float:
    """The distance from the limit of the value that is farthest from it."""
    try:
        gaps = np.abs(compared.value - compared.limit)
    except ValueError:
        return 0.0
    return float(gaps[np.isfinite(gaps)].max(initial=0.0))


def _variant(point: Point, at: int, made: Array, change: str) -> Variant:
    before = point.values[at]
    array = restored(before, made.astype(before.dtype))
    return Variant(
        point.having({at: array}),
        f"values of `{point.names[at]}` are {change}",
        may_be_outside=array.min() < min(before.min(), 0) or array.max() > max(before.max(), 0),
    )


def _is_same(array: Array, other: Array) -> bool:
    return array.shape == other.shape and bool(np.array_equal(array, other))


def _is_part(values: Array, array: Array) -> bool:
    """Return True for values that are entries of an array, as a column of it."""
    return bool(values.size and np.isin(values, array).all())


def _fits(compared: Compared, array: Array) -> bool:
    try:
        return np.broadcast_shapes(compared.limit.shape, array.shape) == array.shape
    except ValueError:
        return False


def _around(limit: Any, array: Array, rng: np.random.Generator) -> Array:
    """Values on alternate sides of a limit, none of them near it."""
    size = max(float(np.abs(np.asarray(limit)).max()), float(np.abs(array).max()), 0.5)
    turns = alternating(array, -1.0, 1.0)
    return np.asarray(limit + turns * size * rng.uniform(0.2, 0.9, array.shape))


def _nearer(array: Array, compared: Compared) -> Iterator[tuple[Array, str]]:
    """The values moved or scaled until what is computed of them may pass the limit, or turned."""
    limit = float(np.abs(compared.limit).max())
    if is_of_both_signs(array):
        step = 2 * _largest_gap(compared)
        if 0 < step < _FARTHEST * max(float(np.abs(array).max()), 0.5):
            yield array + alternating(array, -step, step), f"moved by {step:.3g} both ways"
    sizes = np.abs(compared.value[np.isfinite(compared.value)])
    if limit and sizes.size and sizes.max() > 0:
        for ratio, factor in ((limit / sizes.max(), 1.7), (limit / sizes.max(), 0.4)):
            scale = float(np.clip(ratio * factor, 1 / _FARTHEST, _FARTHEST))
            yield array * scale, f"{scale:.3g} times as large"
    for factor in (_FARTHER, -_FARTHER) if not limit else ():
        yield array * factor, f"{factor:g} times as large"
    if array.min() < 0 < array.max():
        yield -np.abs(array), "negative"
        yield np.abs(array), "positive"
    elif array.any():
        yield -array, "of the opposite sign"
