"""Variants with other values of the tensors: other numbers, other scales, other signs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.names import is_gain, is_mark
from gradtool.explore.reading.source import converted_to_floats, lifts_half, subtracted
from gradtool.explore.reading.wording import wording
from gradtool.explore.traits import (
    is_bounded_below,
    is_counted,
    is_integral,
    may_be_reordered,
    redrawn,
    restored,
    traits,
)
from gradtool.verify.protocol.observation import Array

_SKEW = 1e-3
"""Part of a matrix by which its triangles must differ to be two."""

_LARGE_IN_SINGLE = 45.0
"""Beyond 29 and 44 the cube and the square of an exponential leave float32."""

_LARGE_IN_HALF = 5.5
"""The same in float16, in which exponentials overflow beyond 11."""

_SQUARED_IN_HALF = 300.0
"""The square of such a number is beyond float16."""

_OVERFLOWING_IN_SINGLE = (90.0, 100.0)
"""Here an exponential itself does. As such numbers are close together, their differences do not."""

_SPREAD_IN_SINGLE = 60.0
"""The exponential of the difference of such numbers of either sign overflows, not that of one."""

_LARGEST_SPECIAL = 2.0

_NEGLIGIBLE = 2.0**-26
"""Below it the square of a number changes one by nothing: any function looks like its tangent."""

_TINY = 2.0**-40
"""Beside one, such a number has three digits left."""

_SCALES = (4.0, 0.25, 32.0, 2.0**-10, 2.0**10)

_MODERATE_SCALES = (4.0, 2.0)

_LEAST_OF_SHARES = 0.1
"""The largest entry of numbers that may be shares or cosines."""


def asymmetric(
    point: Point, is_general: Callable[[int], bool], rng: np.random.Generator
) -> Iterator[Variant]:
    """Yield variants of a symmetric matrix that are not symmetric.

    Args:
        point: The arguments of the case.
        is_general: Whether the gradient of an argument is not one for symmetric matrices alone.
        rng: For the difference between the triangles.
    """
    for at, array in point.continuous():
        is_symmetric = any(trait.name == "symmetric" for trait in traits(array))
        if is_symmetric and (at not in point.tracked or is_general(at)):
            skew = np.triu(rng.uniform(0.1, 0.3, array.shape), 1) * np.abs(array).max()
            change = f"`{point.names[at]}` is not symmetric"
            yield Variant(point.having({at: array + skew}), change)


def has_two_triangles(gradient: Array) -> bool:
    """Return True unless a gradient is that of a function of symmetric matrices."""
    difference = np.abs(gradient - gradient.swapaxes(-1, -2)).max()
    return bool(difference > _SKEW * np.abs(gradient).max())


def less_special(point: Point, may_weigh: Callable[[str], bool]) -> Iterator[Variant]:
    """Yield variants in which tensors of nothing but one small integer have other values.

    A term times zero, a power of one, or a product with ones is no evidence for its factor. Of
    what requires a gradient, other whole numbers become fractions too, and so do the ones of
    weights that are all zero or one (`may_weigh` tells the name of a weight).
    """
    for at, array in point.continuous():
        is_free = at in point.tracked or not is_mark(point.names[at])
        if is_free and _is_constant(array):
            spread = np.linspace(0.6, 0.97, array.size).reshape(array.shape)
            made = restored(array, (array * spread).astype(array.dtype))
            change = f"`{point.names[at]}` is not {array.flat[0]:g} everywhere"
            yield Variant(point.having({at: made}), change, is_less_special=True)
        if not is_integral(array) or not is_free:
            continue
        spread = np.linspace(0.6, 0.9, array.size).reshape(array.shape)
        moved = (array * spread if array.any() else 0.5 * spread).astype(array.dtype)
        if array.min() == array.max() and abs(array.min()) <= _LARGEST_SPECIAL:
            change = f"`{point.names[at]}` is not {array.min():g} everywhere"
            yield Variant(point.having({at: moved}), change, is_less_special=True)
        elif may_weigh(point.names[at]) and np.isin(array, (0, 1)).all():
            change = f"`{point.names[at]}` contains fractions"
            yield Variant(point.having({at: moved}), change, is_less_special=True)
        elif at in point.tracked and np.abs(array).max() > 1:
            change = f"`{point.names[at]}` contains fractions"
            yield Variant(point.having({at: restored(array, moved)}), change, is_less_special=True)


def _is_constant(array: Array) -> bool:
    """Return True for fractions that are all the same, as equal weights are."""
    is_real = array.dtype.kind == "f" and array.size > 1 and not is_integral(array)
    return is_real and bool((array == array.flat[0]).all())


def turned(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants in which complex numbers that are all real, or all imaginary, are neither.

    A conjugate makes no difference to real numbers. Real tensors become complex if a docstring or
    the source says that they may be, as a forward does that conjugates one.
    """
    said = wording(function)
    floats = {at: array for at, array in point.continuous() if array.dtype.kind == "f"}
    is_conjugated = any(said.is_conjugated(point.names[at]) for at in floats)
    if (said.is_real_or_complex or is_conjugated) and floats:
        made = {at: array * _phases(array) for at, array in floats.items()}
        yield Variant(point.having(made), "all tensors are complex")
    allowed = [at for at in floats if said.may_be_complex(point.names[at])]
    if len(allowed) > 1:
        made = {at: floats[at] * _phases(floats[at]) for at in allowed}
        names = " and ".join(f"`{point.names[at]}`" for at in allowed)
        yield Variant(point.having(made), f"{names} have complex entries")
    for at, array in point.continuous():
        is_complex = array.dtype.kind == "c"
        if array.size and (
            not (array.real.any() and array.imag.any())
            if is_complex
            else said.may_be_complex(point.names[at])
        ):
            changed = array * _phases(array)
            change = f"`{point.names[at]}` has complex entries"
            kept = restored(array, changed) if is_complex else changed
            yield Variant(point.having({at: kept}), change, is_less_special=is_complex)


def _phases(array: Array) -> Array:
    return np.asarray(np.exp(1j * np.linspace(0.4, 2.5, array.size).reshape(array.shape)))


def counts(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants with a zero among counts, of which a likelihood is often another one."""
    converted = converted_to_floats(function)
    for at, array in point.arrays():
        name = point.names[at]
        is_count = is_integral(array) or (array.dtype.kind in "iu" and name in converted)
        if at in point.tracked or not is_count or is_mark(name) or array.size < 2:
            continue
        if array.min() > 0 and not wording(function).needs_positive and not traits(array):
            holed = array.copy()
            holed.reshape(-1)[0] = 0
            change = f"`{name}` contains a zero"
            yield Variant(point.having({at: holed}), change, may_be_outside=True)


def learned(
    point: Point, find_changed: Callable[[], Collection[int]], *, is_asked: bool
) -> Iterator[Variant]:
    """Yield variants in which one more tensor requires a gradient, if backward computes it.

    Where backward asks which gradients are needed (`is_asked`), it must not raise for one. What
    forward changes in place (`find_changed` runs it) is a buffer.
    """
    free = [
        at
        for at, array in point.continuous()
        if at not in point.tracked and array.dtype.kind == "f" and not is_integral(array)
    ]
    changed = find_changed() if free else ()
    for at in free:
        if at not in changed:
            wanted = replace(point, tracked=point.tracked | {at})
            change = f"`{point.names[at]}` requires a gradient"
            yield Variant(wanted, change, may_lack=at, may_raise=not is_asked)


def degenerate(point: Point, *, are_symmetrized: bool = False) -> Iterator[Variant]:
    """Yield variants of symmetric matrices of which two eigenvalues are the same.

    Square matrices that `are_symmetrized` count as symmetric ones.
    """
    for at, array in point.continuous():
        is_symmetric = any(trait.name == "symmetric" for trait in traits(array))
        is_square = array.ndim > 1 and 1 < array.shape[-1] == array.shape[-2]
        if (is_symmetric or (are_symmetrized and is_square)) and at in point.tracked:
            values, vectors = np.linalg.eigh(0.5 * (array + array.swapaxes(-1, -2).conj()))
            values[..., 0] = values[..., 1]
            made = (vectors * values[..., None, :]) @ vectors.swapaxes(-1, -2)
            change = f"two eigenvalues of `{point.names[at]}` are equal"
            equal = point.having({at: restored(array, made.astype(array.dtype))})
            yield Variant(equal, change, is_measured=True)


def ends(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants of numbers between -1 and 1, or 0 and 1, at the ends of that range.

    At -1 and 1 exactly only if a docstring speaks of that range: other numbers are between them by
    chance.
    """
    for at in _movable(point):
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


def zeros(point: Point, rng: np.random.Generator, *, divides: bool) -> Iterator[Variant]:
    """Yield variants with a zero among the other entries, where these are of both signs.

    Among positive ones it may be outside the domain. Where forward has a derivative there, a
    backward that divides (`divides`) has none.
    """
    for at in _movable(point):
        array = point.values[at]
        is_row = array.ndim > 0 and array.shape[-1] > 1
        if is_row and _is_of_both_signs(array) and not traits(array) and at in point.tracked:
            holed = array.copy()
            column = rng.integers(0, array.shape[-1], array.shape[:-1])
            np.put_along_axis(holed, np.expand_dims(column, -1), 0.0, axis=-1)
            yield Variant(point.having({at: holed}), f"`{point.names[at]}` contains zeros")
            empty = array.copy()
            empty[(0,) * (array.ndim - 1)] = 0.0
            yield Variant(point.having({at: empty}), f"`{point.names[at]}` contains a row of zeros")
        elif array.size > 1 and at in point.tracked and is_gain(point.names[at]):
            holed = array.copy()
            holed.reshape(-1)[0] = 0.0
            change = f"`{point.names[at]}` contains a zero"
            yield Variant(point.having({at: holed}), change, only_finite=True)
        elif divides and at in point.tracked and is_bounded_below(array) and not traits(array):
            holed = array.copy()
            holed.reshape(-1)[array.size // 2] = 0.0
            change = f"`{point.names[at]}` contains a zero"
            yield Variant(point.having({at: holed}), change, is_at_edge=True)


def at_limits(point: Point, names: Collection[str]) -> Iterator[Variant]:
    """Yield variants with a zero in what forward compares with zero.

    A derivative is measured there: a formula for zero alone does not change with what it is for.
    """
    for at in _movable(point):
        array = point.values[at]
        if point.names[at] in names and at in point.tracked and array.dtype == np.float64:
            holed = array.copy()
            holed.reshape(-1)[0] = 0.0
            change = f"`{point.names[at]}` {'is' if array.size == 1 else 'contains a'} zero"
            yield Variant(point.having({at: holed}), change, is_measured=True)


def whole(point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants with a whole number in each row, as at the edges of a grid."""
    for at in _movable(point):
        array = point.values[at]
        if not array.ndim or array.dtype.kind != "f" or is_integral(array):
            continue
        if at in point.tracked and _is_scalable(array):
            row = rng.integers(0, array.shape[-1], (*array.shape[:-1], 1))
            is_chosen = np.arange(array.shape[-1]) == row
            rounded = np.copysign(np.maximum(np.round(np.abs(array)), 1.0), array)
            made = restored(array, np.where(is_chosen, rounded, array).astype(array.dtype))
            change = f"`{point.names[at]}` contains whole numbers"
            yield Variant(point.having({at: made}), change, only_finite=True)


def near(point: Point, thresholds: Sequence[float], rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants with entries on both sides of numbers that the source compares with."""
    for threshold in thresholds:
        for at in _movable(point):
            array = point.values[at]
            if traits(array) or at not in point.tracked or array.dtype.kind != "f":
                continue
            size = np.abs(threshold) * rng.uniform(0.6, 1.6, array.shape)
            # One number may be of either sign, as the logarithm of a scale is.
            for each in (size, -size) if array.size == 1 else (np.copysign(size, array),):
                change = f"values of `{point.names[at]}` are about {threshold:g}"
                yield Variant(point.having({at: each}), change)


def fewer_digits(function: Any, point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants in float32 and float16, large enough for exponentials to overflow."""
    doubles = [at for at, array in point.arrays() if array.dtype == np.float64]
    if len(doubles) != sum(1 for _ in point.continuous()):
        return
    movable = [at for at in doubles if _is_scalable(point.values[at])]
    largest = max((np.abs(point.values[at]).max(initial=0.0) for at in movable), default=0.0)
    if not 0 < largest < _LARGE_IN_SINGLE:
        return
    drawn = {at: redrawn(point.values[at], rng) * (_LARGE_IN_SINGLE / largest) for at in movable}
    change = "all tensors are float32 and large"
    yield Variant(_cast(point, doubles, drawn), change)
    drawn_for_half = {at: each * (_LARGE_IN_HALF / _LARGE_IN_SINGLE) for at, each in drawn.items()}
    half = _cast(point, doubles, drawn_for_half, np.float16)
    yield Variant(half, "all tensors are float16", only_finite=True)
    if lifts_half(function):
        # Of what was drawn, which is smaller: a square must overflow whatever the seed.
        scale = _SQUARED_IN_HALF / max(np.abs(each).max() for each in drawn.values())
        half = _cast(point, doubles, {at: scale * e for at, e in drawn.items()}, np.float16)
        change = "all tensors are float16 and large"
        yield Variant(half, change, only_finite=True, is_lifted=True)
    named = {point.names[at]: at for at in movable}
    spread: dict[int, Array] = {}
    for one, other in sorted(subtracted(function)):
        if one in named and other in named:
            spread[named[other]] = -_spread(drawn[named[other]])
            spread[named[one]] = _spread(drawn[named[one]])
    if spread:
        change = "all tensors are float32, and their values are about 60 and -60"
        yield Variant(_cast(point, doubles, {**drawn, **spread}), change, only_finite=True)
    only = point.values[doubles[0]]
    # Several tensors, or a matrix, may be out of proportion then.
    if len(doubles) == 1 and only.max() > 0 and not traits(only):
        moved = {doubles[0]: rng.uniform(*_OVERFLOWING_IN_SINGLE, only.shape)}
        change = f"`{point.names[doubles[0]]}` is float32, and its values are about 95"
        yield Variant(_cast(point, doubles, moved), change, only_finite=True)


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
    turns = np.where(np.arange(array.size) % 2, 1.0, -1.0).reshape(array.shape)
    return _SPREAD_IN_SINGLE * turns * np.linspace(0.95, 1.0, array.size).reshape(array.shape)


def _movable(point: Point) -> list[int]:
    return [
        at
        for at, array in point.continuous()
        if array.size and not is_counted(array, is_tracked=at in point.tracked)
    ]


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
    movable = _movable(point)
    if not movable:
        return
    drawn = point.having({at: redrawn(point.values[at], rng) for at in movable})
    yield Variant(drawn, "the values are different")
    yield from _ordinary(point, movable if is_scaled else (), rng)
    yield from _tiny(drawn, movable if is_scaled and is_exact_near_zero else ())
    for scale in _SCALES if is_scaled else ():
        for at in movable:
            if _is_scalable(drawn.values[at]):
                scaled = restored(drawn.values[at], drawn.values[at] * scale)
                change = f"values of `{point.names[at]}` are {scale:g} times as large"
                yield Variant(drawn.having({at: scaled}), change)
        if scale == _SCALES[0]:
            for at in movable:
                if _is_of_both_signs(drawn.values[at]):
                    flipped = restored(point.values[at], -drawn.values[at])
                    change = f"values of `{point.names[at]}` have the opposite sign"
                    yield Variant(drawn.having({at: flipped}), change)


def larger(point: Point) -> Iterator[Variant]:
    """Yield variants of which one tensor has larger values, but not much larger ones."""
    for scale in _MODERATE_SCALES:
        for at in _movable(point):
            array = point.values[at]
            if _is_scalable(array) and at in point.tracked:
                change = f"values of `{point.names[at]}` are {scale:g} times as large"
                yield Variant(point.having({at: restored(array, array * scale)}), change)


def _tiny(point: Point, movable: Sequence[int]) -> Iterator[Variant]:
    """Yield variants so small that the difference of one and an exponential has few digits."""
    for at in movable:
        array = point.values[at]
        if at in point.tracked and array.dtype == np.float64 and _is_scalable(array):
            made = restored(array, array * _TINY)
            change = f"values of `{point.names[at]}` are {_TINY:g} times as large"
            yield Variant(point.having({at: made}), change)


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
        if 0 < largest < _NEGLIGIBLE and _is_scalable(array):
            made = restored(array, redrawn((array / largest).astype(array.dtype), rng))
            change = f"values of `{point.names[at]}` are about 1"
            yield Variant(point.having({at: made}), change)


def _is_scalable(array: Array) -> bool:
    """Return False where the scale is part of what the array is."""
    return not any(trait.is_equality and trait.name != "symmetric" for trait in traits(array))


def _is_of_both_signs(array: Array) -> bool:
    return array.dtype.kind == "f" and bool(array.min() < 0 < array.max())
