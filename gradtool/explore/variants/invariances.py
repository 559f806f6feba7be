"""Variants of tensors of which an offset or a factor makes no difference to forward.

A variance that backward computes as the difference of two large numbers has no digits left there,
while the deviations from the mean, of which forward takes it, still have most of theirs. Times that
are saved in single precision lose theirs in the same way. Where forward divides weights by their
sum, backward has to as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradtool.collect.checkable import Checkable
from gradtool.explore.excuses import outputs_at
from gradtool.explore.point import Point, Variant
from gradtool.explore.traits import is_integral, traits
from gradtool.verify.protocol.observation import Array

_OFFSETS = (2.0**15, 2.0**16)
"""The square of such a number leaves seven digits to a variance of one, the number itself eleven.

Much farther away the steps of a full check, which grow with the numbers, are often too long.
"""

_IN_SINGLE = 2.0**13
"""The same for float32, whose numbers have three digits left there, and their squares none."""

_OFFSET_OF_CONSTANT = 2.0**23 + 1 / 3
"""Single precision has no digits behind the point there."""

_FACTOR = 1.7
"""A sum that is neither one nor a power of two."""

_SAME = 1e-4
"""Part of an output by which the rounded offset may change it."""


def offset(checkable: Checkable, point: Point) -> Iterator[Variant]:
    """Yield variants with a large number added to all entries, where forward does not change."""
    for at, array in point.continuous():
        is_free = array.dtype == np.float64 and array.size > 1 and not is_integral(array)
        is_bound = any(each.is_equality or at in point.tracked for each in traits(array))
        if is_free and not is_bound:
            yield from _moved(checkable, point, at)


def rescaled(checkable: Checkable, point: Point) -> Iterator[Variant]:
    """Yield variants of what adds up to one that no longer does, where forward does not change.

    Logarithms of such numbers are logits where forward normalizes them.
    """
    for at, array in point.continuous():
        names = {each.name for each in traits(array)}
        name, made = point.names[at], None
        if "sums to one" in names:
            made, change = _FACTOR * array, f"`{name}` adds up to {_FACTOR} instead of 1"
        elif "log-probabilities" in names:
            made, change = array + np.log(_FACTOR), f"`{name}` are logits that are not normalized"
        if made is not None and _same_outputs(checkable, point, point.having({at: made})):
            yield Variant(point.having({at: made}), change, is_less_special=True)


def _moved(checkable: Checkable, point: Point, at: int) -> Iterator[Variant]:
    name, is_tracked = point.names[at], at in point.tracked
    is_free = False
    for size in _OFFSETS if is_tracked else (_OFFSET_OF_CONSTANT,):
        moved = point.having({at: point.values[at] + size})
        if _same_outputs(checkable, point, moved):
            is_free = True
            change = f"values of `{name}` are about {size:g}"
            yield Variant(moved, change, offset=at)
            # The variance may even become negative.
            yield Variant(moved, change, only_finite=True)
    if is_free and is_tracked:
        change = f"all tensors are float32, and values of `{name}` are about {_IN_SINGLE:g}"
        yield Variant(_in_single(point, at), change, keeps_digits=True, keeps_most_digits=True)


def _in_single(point: Point, at: int) -> Point:
    """The point in float32, with a number added that leaves its square no digits for a variance."""
    moved = {at: point.values[at] + _IN_SINGLE}
    return point.having(
        {
            each: moved.get(each, array).astype(np.float32)
            for each, array in point.continuous()
            if array.dtype == np.float64
        }
    )


def _same_outputs(checkable: Checkable, one: Point, other: Point) -> bool:
    """Return True if forward computes the same at two points, but for roundings."""
    try:
        outputs = [outputs_at(checkable, each) for each in (one, other)]
    except Exception:  # The user's forward may raise anything.
        return False
    return all(map(_is_same, *outputs))


def _is_same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None or one.shape != other.shape or one.dtype.kind != "f":
        return one is other
    size = float(np.abs(one).max(initial=0.0))
    return bool(size and np.abs(one - other).max() <= _SAME * size)
