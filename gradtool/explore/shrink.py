"""The smallest shapes and the simplest numbers at which a Function is still wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from msgspec.structs import replace

from gradtool.explore.point import Point, Variant
from gradtool.explore.traits import reshaped, traits
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array

_MOST_TRIALS = 40

_SMALLEST = 3
"""An extent of one is a case of its own, and may hide what is wrong with longer ones. A mean over
two entries may pass for a half.
"""


def shrunk(variant: Variant, is_wrong: Callable[[Variant], bool]) -> Variant:
    """Shrink a variant at which a Function is wrong.

    Args:
        variant: The variant.
        is_wrong: Tells whether a Function is wrong at another one.

    Equal entries stay where they are, so that the direction along which they move is known.
    """
    left = _MOST_TRIALS
    # Shapes and numbers are independent of each other, so one look at each in turn is enough.
    for simpler in (_fewer, _smaller, _simpler) if variant.along is None else (_simpler,):
        is_done = False
        while not is_done and left > 0:
            is_done = True
            for each in simpler(variant):
                left -= 1
                smaller = replace(each, growth=None, may_raise=True)
                if left >= 0 and is_wrong(smaller):
                    variant = smaller
                    is_done = simpler is _simpler
                    break
    return variant


def _fewer(variant: Variant) -> Iterator[Variant]:
    """Yield variants of which one of several options is as in the case."""
    for option in variant.options if len(variant.options) > 1 else ():
        left = [each for each in variant.options if each is not option]
        point = variant.point.having({option.at: option.before})
        change = ", and ".join(each.change for each in left)
        yield replace(variant, point=point, options=left, change=change)


def _smaller(variant: Variant) -> Iterator[Variant]:
    """Yield variants of which one extent is smaller wherever it occurs.

    First those in which it still is another one than all others, the smallest ones first.
    """
    point = variant.point
    extents = {extent for _, array in point.arrays() for extent in array.shape}
    numbers = {at: point.values[at] for at in point.plain if type(point.values[at]) is int}
    for extent in sorted(extents - set(numbers.values()), reverse=True):
        found = dict.fromkeys((_SMALLEST, extent // 2, extent - 1))
        for less in sorted(found, key=extents.__contains__):
            made = _with_extent(point, extent, less) if _SMALLEST <= less < extent else None
            if made is not None:
                yield _at(variant, made)


def _with_extent(point: Point, extent: int, less: int) -> Point | None:
    rng = np.random.default_rng(0)  # Nothing grows, so nothing is drawn.
    changed = {}
    for at, array in point.arrays():
        shape = tuple(less if each == extent else each for each in array.shape)
        if shape != array.shape:
            changed[at] = reshaped(array, shape, rng)
            if changed[at] is None:
                return None
    return point.having(changed)


def _simpler(variant: Variant) -> Iterator[Variant]:
    """Yield variants of which all numbers have fewer digits."""
    point = variant.point
    for digits in (0, 1, 2):
        rounded = {at: _rounded(array, digits) for at, array in point.continuous()}
        if all(_is_like(point.values[at], array) for at, array in rounded.items()):
            yield _at(variant, point.having(rounded))


def _rounded(array: Array, digits: int) -> Array:
    size = float(np.abs(array).max(initial=0.0)) if is_continuous(array.dtype) else 0.0
    if not size or not np.isfinite(size):
        return array
    unit = 10.0 ** (np.floor(np.log10(size)) - digits)
    return np.asarray(np.round(array / unit) * unit).round(12).astype(array.dtype)


def _is_like(array: Array, rounded: Array) -> bool:
    """Return True if no two different entries became equal, and no trait is lost."""
    if len(np.unique(rounded)) < len(np.unique(array)):
        return False
    return [each.name for each in traits(array)] == [each.name for each in traits(rounded)]


def _at(variant: Variant, point: Point) -> Variant:
    """The variant at another point; a change of extents is told by the shapes that are left."""
    if not variant.names_extents:
        return replace(variant, point=point)
    shapes = [
        f"`{point.names[at]}` has the shape {list(array.shape)}" for at, array in point.arrays()
    ]
    return replace(variant, point=point, change=" and ".join(shapes))
