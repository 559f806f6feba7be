"""Caches whose key lacks an argument: a later call gets what an earlier one computed.

A cache is emptied before a call to see what the call computes by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.adapters.common.buffers import roots_of, visited
from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.library import library
from gradtool.collect.checkable import Checkable
from gradtool.explore.point import Point, Variant, with_value
from gradtool.explore.variants.plain import is_kept
from gradtool.verify.protocol.observation import Array

_NEARBY = 1.02
"""Ratio of two numbers of which a key may only keep what is computed of them, such as a radius."""


def nearby_numbers(checkable: Checkable, point: Point) -> Iterator[Variant]:
    """Yield variants in which a number hardly changes, for a Function with a cache.

    Args:
        checkable: The Function.
        point: The arguments of the case, with all defaults.
    """
    for at in point.plain if _caches(checkable) else ():
        value = point.values[at]
        if type(value) is float and value and not is_kept(point.names[at], value):
            yield with_value(point, at, round(value * _NEARBY, 6))


def stale_output(checkable: Checkable, case: Point, variant: Point) -> int | None:
    """The first output that a call at `variant` has from a call at `case` before it, if any."""
    caches = _caches(checkable)
    if not caches:
        return None
    with _restored(caches):
        _empty(caches)
        alone = _outputs(checkable, variant)
        _empty(caches)
        before = _outputs(checkable, case)
        after = _outputs(checkable, variant)
    if len(alone) != len(after):
        return None
    return next(
        (
            at
            for at, (one, other) in enumerate(zip(alone, after, strict=True))
            if not _same(one, other) and at < len(before)
        ),
        None,
    )


def _caches(checkable: Checkable) -> list[dict[Any, Any]]:
    """Dicts with tensors or arrays that the Function reaches."""
    kinds = (library().Tensor, np.ndarray)
    _, objects = visited(roots_of(checkable.obj))
    return [each for each in objects if type(each) is dict and _holds(each, kinds)]


def _holds(cache: dict[Any, Any], kinds: tuple[type, ...]) -> bool:
    """Return True if all entries are tensors, or tuples or lists of some."""
    entries = [
        entry
        for value in cache.values()
        for entry in (value if isinstance(value, tuple | list) else [value])
    ]
    return bool(entries) and all(isinstance(entry, kinds) for entry in entries)


@contextmanager
def _restored(caches: list[dict[Any, Any]]) -> Iterator[None]:
    before = [dict(cache) for cache in caches]
    try:
        yield
    finally:
        _empty(caches)
        for cache, entries in zip(caches, before, strict=True):
            cache.update(entries)


def _empty(caches: list[dict[Any, Any]]) -> None:
    for cache in caches:
        cache.clear()


def _outputs(checkable: Checkable, point: Point) -> list[Array | None]:
    args, kwargs = point.call()
    function = FunctionDifferentiable(checkable.obj, args, kwargs, name=checkable.name)
    return [None if o is None else o.copy() for o in function.evaluate(function.primals)]


def _same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and np.allclose(one, other, equal_nan=True)
