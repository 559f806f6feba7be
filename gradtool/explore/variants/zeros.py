"""Variants at zero and at the ends of a range, where a formula may have a limit of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.arithmetic import converted_to_floats
from gradtool.explore.reading.names import is_gain, is_mark, is_width
from gradtool.explore.reading.wording import wording
from gradtool.explore.traits import (
    intended_traits,
    is_bounded_below,
    is_dominated_by_diagonal,
    is_integral,
    is_of_both_signs,
    is_scalable,
    restored,
    traits,
)
from gradtool.explore.variants.values import movable_tensors

_LEAST_OF_SHARES = 0.1
"""The largest entry of numbers that may be shares or cosines."""


def counts(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants with a zero among counts, of which a likelihood is often another one."""
    converted, said = converted_to_floats(function), wording(function)
    for at, array in point.arrays():
        name = point.names[at]
        is_count = is_integral(array) or (
            array.dtype.kind in "iu" and (name in converted or said.may_be_zero(name))
        )
        if at in point.tracked or not is_count or is_mark(name) or array.size < 2:
            continue
        if array.min() > 0 and not said.needs_positive and not traits(array):
            holed = array.copy()
            holed.reshape(-1)[0] = 0
            change = f"`{name}` contains a zero"
            yield Variant(point.having({at: holed}), change, may_be_outside=True)


def ends(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants of numbers between -1 and 1, or 0 and 1, at the ends of that range.

    At -1 and 1 exactly only if a docstring speaks of that range: other numbers are between them by
    chance.
    """
    for at in movable_tensors(point):
        array, name = point.values[at], point.names[at]
        largest = float(np.abs(array).max(initial=0.0))
        if array.dtype.kind != "f" or at not in point.tracked or array.size < 2:
            continue
        if not _LEAST_OF_SHARES < largest < 1 or any(t.is_equality for t in traits(array)):
            continue
        is_signed = bool(array.min() < 0)
        far = np.copysign(0.9 + 0.09 * np.abs(array) / largest, array)
        for made, change in ((far, ""), (-far, ", signs changed"))[: 1 + is_signed]:
            kept = restored(array, made)
            yield Variant(point.having({at: kept}), f"values of `{name}` are near 1{change}")
        signed = (1.0, -1.0) if wording(function).speaks_of_signed_unit_range else ()
        for end in signed if is_signed else (1.0, 0.0):
            made = array.copy()
            made[..., 0] = end
            change = f"some entries of `{name}` are {end:g}"
            kept = restored(array, made)
            yield Variant(point.having({at: kept}), change, may_be_outside=True)


def zeros(point: Point, rng: np.random.Generator, edges: Collection[str]) -> Iterator[Variant]:
    """Yield variants with a zero among the other entries, where these are of both signs.

    Among positive ones it may be outside the domain, or be an edge of it for those in `edges`.
    """
    for at in movable_tensors(point):
        array = point.values[at]
        is_row = array.ndim > 0 and array.shape[-1] > 1
        is_signed = is_of_both_signs(array) or array.dtype.kind == "c"
        is_free = is_signed and not (intended_traits(array) or is_dominated_by_diagonal(array))
        if is_row and is_free and at in point.tracked:
            holed = array.copy()
            is_in_order = bool(traits(array))
            column = rng.integers(0, array.shape[-1], array.shape[:-1])
            column = np.abs(array).argmin(-1) if is_in_order else column  # It stays in order.
            np.put_along_axis(holed, np.expand_dims(column, -1), 0.0, axis=-1)
            yield Variant(point.having({at: holed}), f"`{point.names[at]}` contains zeros")
            if is_in_order:
                continue
            empty = array.copy()
            empty[(0,) * (array.ndim - 1)] = 0.0
            yield Variant(point.having({at: empty}), f"`{point.names[at]}` contains a row of zeros")
        elif array.size > 1 and at in point.tracked and is_gain(point.names[at]):
            holed = array.copy()
            holed.reshape(-1)[0] = 0.0
            change = f"`{point.names[at]}` contains a zero"
            yield Variant(point.having({at: holed}), change, only_finite=True)
        elif (
            point.names[at] in edges
            and at in point.tracked
            and not is_width(point.names[at])
            and is_bounded_below(array)
            and not traits(array)
        ):
            holed = array.copy()
            holed.reshape(-1)[array.size // 2] = 0.0
            change = f"`{point.names[at]}` contains a zero"
            yield Variant(point.having({at: holed}), change, is_at_edge=True)


def shared_zeros(point: Point, may_vanish: Callable[[str], bool]) -> Iterator[Variant]:
    """Yield variants of tensors of one shape that are zero at the same entry.

    `may_vanish` tells the names of those whose numbers may be zero: a quotient of two of them is
    none there, of which forward may take a multiple.
    """
    for shape in dict.fromkeys(array.shape for _, array in point.continuous() if array.size > 1):
        chosen = [
            at
            for at, array in point.continuous()
            if array.shape == shape and array.dtype == np.float64 and array.min() > 0
            if may_vanish(point.names[at]) and not any(t.is_equality for t in traits(array))
        ]
        if len(chosen) < 2 or not point.tracked & set(chosen):
            continue
        holed = {at: point.values[at].copy() for at in chosen}
        for array in holed.values():
            array.reshape(-1)[-1] = 0.0
        names = " and ".join(f"`{point.names[at]}`" for at in chosen)
        yield Variant(point.having(holed), f"{names} are zero at one entry", is_at_edge=True)


def at_limits(point: Point, names: Collection[str]) -> Iterator[Variant]:
    """Yield variants with a zero in what forward compares with zero.

    A derivative is measured there: a formula for zero alone does not change with what it is for.
    """
    for at in movable_tensors(point):
        array = point.values[at]
        if point.names[at] in names and at in point.tracked and array.dtype == np.float64:
            holed = array.copy()
            holed.reshape(-1)[0] = 0.0
            change = f"`{point.names[at]}` {'is' if array.size == 1 else 'contains a'} zero"
            yield Variant(point.having({at: holed}), change, is_measured=True, is_at_limit=True)


def whole(point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants with a whole number in each row, as at the edges of a grid."""
    for at in movable_tensors(point):
        array = point.values[at]
        if not array.ndim or array.dtype.kind != "f" or is_integral(array):
            continue
        if at in point.tracked and is_scalable(array):
            row = rng.integers(0, array.shape[-1], (*array.shape[:-1], 1))
            is_chosen = np.arange(array.shape[-1]) == row
            rounded = np.copysign(np.maximum(np.round(np.abs(array)), 1.0), array)
            made = restored(array, np.where(is_chosen, rounded, array).astype(array.dtype))
            change = f"`{point.names[at]}` contains whole numbers"
            yield Variant(point.having({at: made}), change, only_finite=True)
