"""Caches whose key lacks an argument: a later call gets what an earlier one computed.

A cache is emptied before a call to see what the call computes by itself.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.adapters.common.buffers import roots_of, visited
from gradtool.adapters.library import library
from gradtool.collect.checkable import Checkable
from gradtool.explore.excuses import function_at
from gradtool.explore.observed import cotangents_of
from gradtool.explore.point import Point, Variant, with_value
from gradtool.explore.variants.plain import is_kept
from gradtool.verify.protocol.observation import Array

Caches = list[dict[Any, Any]]
"""Those that a Function reaches."""

_NEARBY = 1.02
"""Ratio of two numbers of which a key may only keep what is computed of them, such as a radius."""


def nearby_numbers(checkable: Checkable, point: Point) -> Iterator[Variant]:
    """Yield variants in which a number hardly changes, for a Function with a cache.

    Args:
        checkable: The Function.
        point: The arguments of the case, with all defaults.
    """
    for at in point.plain if caches_of(checkable) else ():
        value = point.values[at]
        if type(value) is float and value and not is_kept(point.names[at], value):
            yield with_value(point, at, round(value * _NEARBY, 6))


def other_indices(checkable: Checkable, point: Point) -> Iterator[Variant]:
    """Yield variants with the columns of an index in another order, for a Function with a cache.

    Not of what is sorted, which may have to be.
    """
    for at, array in point.arrays() if caches_of(checkable) else ():
        is_sorted = array.ndim == 1 and bool((np.diff(array) >= 0).all())
        if array.dtype.kind in "iu" and array.ndim and array.shape[-1] > 1 and not is_sorted:
            made = np.roll(array, 1, axis=-1)
            change = f"the entries of `{point.names[at]}` are in another order"
            yield Variant(point.having({at: made}), change)


def stale_output(
    checkable: Checkable, caches: Caches, case: Point, variant: Point, *, may_update: bool = True
) -> int | None:
    """Return the first output that a call at `variant` has from one at `case` before it, if any.

    Args:
        checkable: The Function.
        caches: Its caches.
        case: The arguments of the call before.
        variant: The arguments of the call.
        may_update: The call counts also if it changes the cache, as one of statistics does.
    """
    with _restored(caches):
        _empty(caches)
        alone = _outputs(checkable, variant)
        _empty(caches)
        before = _outputs(checkable, case)
        cached = copy.deepcopy(caches)
        after = _outputs(checkable, variant)
        is_kept = may_update or _are_same(cached, caches)
    if not is_kept or len(alone) != len(after):
        return None
    return next(
        (
            at
            for at, (one, other) in enumerate(zip(alone, after, strict=True))
            if not _same(one, other) and at < len(before)
        ),
        None,
    )


def has_other_gradients(
    checkable: Checkable, caches: Caches, case: Point, variant: Point, seed: int
) -> bool:
    """Return True if a call at `variant` changes the gradients of an unfinished one at `case`.

    It does where it writes to the entry of a cache that the backward of the other reads.
    """
    own, other = function_at(checkable, case), function_at(checkable, variant)
    with _restored(caches):
        alone = own.call(own.primals, lambda seen: cotangents_of(seen, seed))
        cotangents = [cotangents_of(each, seed) for each in (alone, other.call(other.primals))]
        first, *_ = own.interleaved([own.primals, other.primals], cotangents, [other])
    if alone.gradients is None or first.gradients is None:
        return False
    return not all(map(_same, alone.gradients, first.gradients))


def caches_of(checkable: Checkable) -> Caches:
    """Return the dicts with tensors or arrays that the Function reaches."""
    kinds = (library().Tensor, np.ndarray)
    _, objects = visited(roots_of(checkable.obj))
    return [each for each in objects if type(each) is dict and _holds(each, kinds)]


def _are_same(one: Caches, other: Caches) -> bool:
    """Return True for caches with the same keys and the same numbers."""
    pairs = zip(one, other, strict=True)
    return all(a.keys() == b.keys() for a, b in pairs) and all(
        mine.shape == yours.shape and bool((mine == yours).all())
        for a, b in zip(one, other, strict=True)
        for key in a
        for mine, yours in zip(_entries(a[key]), _entries(b[key]), strict=True)
    )


def _holds(cache: dict[Any, Any], kinds: tuple[type, ...]) -> bool:
    """Return True if all entries are tensors, or tuples or lists of some."""
    entries = [entry for value in cache.values() for entry in _entries(value)]
    return bool(entries) and all(isinstance(entry, kinds) for entry in entries)


def _entries(value: Any) -> Sequence[Any]:
    return value if isinstance(value, tuple | list) else [value]


@contextmanager
def _restored(caches: Caches) -> Iterator[None]:
    before = [dict(cache) for cache in caches]
    try:
        yield
    finally:
        _empty(caches)
        for cache, entries in zip(caches, before, strict=True):
            cache.update(entries)


def _empty(caches: Caches) -> None:
    for cache in caches:
        cache.clear()


def _outputs(checkable: Checkable, point: Point) -> list[Array | None]:
    function = function_at(checkable, point)
    return [None if o is None else o.copy() for o in function.evaluate(function.primals)]


def _same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and np.allclose(one, other, equal_nan=True)
