"""Variants in float32 and float16, in which exponentials and squares overflow early."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.arithmetic import aligned, lifts_half, subtracted
from gradtool.explore.reading.source import takes_exponentials
from gradtool.explore.reading.wording import wording
from gradtool.explore.traits import alternating, is_scalable, redrawn, restored, traits
from gradtool.verify.protocol.observation import Array

_LARGE_IN_SINGLE = 45.0
"""Beyond 29 and 44 the cube and the square of an exponential leave float32."""

_LARGE_IN_HALF = 5.5
"""The same in float16, in which exponentials overflow beyond 11."""

_SQUARED_IN_HALF = 300.0
"""The square of such a number is beyond float16."""

_OVERFLOWING_IN_SINGLE = (90.0, 100.0)
"""Here an exponential itself does. As such numbers are close together, their differences do not."""

_BEYOND_A_GUARD = (2.0, 8.0)
"""Multiples of a number below which another formula may take over."""

_SPREAD_IN_SINGLE = 60.0
"""The exponential of the difference of such numbers of either sign overflows, not that of one."""


def fewer_digits(function: Any, point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants in float32 and float16, large enough for exponentials to overflow."""
    doubles = [at for at, array in point.arrays() if array.dtype == np.float64]
    if len(doubles) != sum(1 for _ in point.continuous()):
        return
    movable = [at for at in doubles if is_scalable(point.values[at])]
    largest = max((np.abs(point.values[at]).max(initial=0.0) for at in movable), default=0.0)
    if not 0 < largest < _LARGE_IN_SINGLE:
        return
    if not wording(function).approximates:
        single = _cast(point, doubles, {})
        change = "all tensors are float32"
        yield Variant(single, change, keeps_most_digits=True)
        if wording(function).speaks_of_single_precision and not wording(function).needs_nonzero:
            yield from _with_zero_rows(single, movable)
    if wording(function).is_moderate:
        return
    drawn = {at: redrawn(point.values[at], rng) * (_LARGE_IN_SINGLE / largest) for at in movable}
    change = "all tensors are float32 and large"
    yield Variant(_cast(point, doubles, drawn), change)
    drawn_for_half = {at: each * (_LARGE_IN_HALF / _LARGE_IN_SINGLE) for at, each in drawn.items()}
    if takes_exponentials(function):
        half = _cast(point, doubles, drawn_for_half, np.float16)
        yield Variant(half, "all tensors are float16", only_finite=True)
    if lifts_half(function):
        yield _squared_in_half(point, doubles, drawn, rng)
    named = {point.names[at]: at for at in movable}
    yield from _of_two_dtypes(_cast(point, doubles, drawn_for_half), named, aligned(function))
    spread: dict[int, Array] = {}
    for one, other in sorted(subtracted(function)):
        if one in named and other in named:
            spread[named[other]] = -_spread(drawn[named[other]])
            spread[named[one]] = _spread(drawn[named[one]])
    if spread:
        change = "all tensors are float32, and their values are about 60 and -60"
        yield Variant(_cast(point, doubles, {**drawn, **spread}), change, only_finite=True)
    yield from _overflowing(point, doubles, rng)


def _squared_in_half(
    point: Point, doubles: Sequence[int], drawn: Mapping[int, Array], rng: np.random.Generator
) -> Variant:
    """The variant in float16 in which the squares of all numbers overflow.

    Of a slope that is bounded the largest numbers have the least part.
    """
    far = {
        at: np.copysign(_SQUARED_IN_HALF * rng.uniform(0.9, 1.1, each.shape), each)
        for at, each in drawn.items()
    }
    half = _cast(point, doubles, far, np.float16)
    return Variant(half, "all tensors are float16 and large", only_finite=True, keeps_digits=True)


def _with_zero_rows(single: Point, movable: Iterable[int]) -> Iterator[Variant]:
    """Variants in float32 with a row of zeros, which the least numbers of float64 do not guard."""
    for at in movable:
        array = single.values[at]
        if at in single.tracked and array.ndim and array.size > 1 and array.min() < 0:
            holed = array.copy()
            holed[(0,) * (array.ndim - 1)] = 0.0
            change = f"all tensors are float32, and `{single.names[at]}` contains a row of zeros"
            yield Variant(single.having({at: holed}), change, only_finite=True)


def _overflowing(
    point: Point, doubles: Sequence[int], rng: np.random.Generator
) -> Iterator[Variant]:
    """The variant in float32 in which exponentials overflow, of an only tensor.

    Several tensors, or a matrix, may be out of proportion then.
    """
    only = point.values[doubles[0]]
    if len(doubles) == 1 and only.max() > 0 and not traits(only):
        moved = {doubles[0]: rng.uniform(*_OVERFLOWING_IN_SINGLE, only.shape)}
        change = f"`{point.names[doubles[0]]}` is float32, and its values are about 95"
        yield Variant(_cast(point, doubles, moved), change, only_finite=True)


def beyond_guards(
    point: Point, guards: Iterable[float], rng: np.random.Generator
) -> Iterator[Variant]:
    """Yield variants in float32 a little beyond small numbers that the source compares with.

    A series that takes over below them may do so too late for float32.
    """
    doubles = [at for at, array in point.arrays() if array.dtype == np.float64]
    for guard in guards:
        for at in doubles:
            array = point.values[at]
            if at not in point.tracked or not is_scalable(array):
                continue
            size = guard * rng.uniform(*_BEYOND_A_GUARD, array.shape)
            change = f"`{point.names[at]}` is float32, and its values are about {guard:g}"
            made = _cast(point, doubles, {at: np.copysign(size, array)})
            yield Variant(made, change, only_finite=True, keeps_digits=True)


def _of_two_dtypes(
    single: Point, named: Mapping[str, int], pairs: Iterable[tuple[str, str]]
) -> Iterator[Variant]:
    """Variants of a point in float32 with one tensor in float16, which forward converts."""
    for one, other in sorted(pairs):
        if one != other and one in named and other in named:
            half = single.having({named[one]: single.values[named[one]].astype(np.float16)})
            change = f"`{one}` is float16, and `{other}` is float32"
            yield Variant(half, change, only_finite=True, may_raise=False)


def _cast(
    point: Point, doubles: Sequence[int], drawn: Mapping[int, Array], dtype: Any = np.float32
) -> Point:
    """The point in another precision, with the values that were drawn."""
    cast = {
        at: restored(point.values[at], drawn.get(at, point.values[at])).astype(dtype)
        for at in doubles
    }
    return point.having(cast)


def _spread(array: Array) -> Array:
    """Values that are far apart from their neighbors: the exponential of differences overflows."""
    turns = alternating(array, -1.0, 1.0)
    return _SPREAD_IN_SINGLE * turns * np.linspace(0.95, 1.0, array.size).reshape(array.shape)
