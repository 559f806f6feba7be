"""Variants without a value that hides mistakes: all ones, all real, or no gradient."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
from msgspec.structs import replace

from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.names import is_mark
from gradtool.explore.reading.source import asked_for
from gradtool.explore.reading.wording import wording
from gradtool.explore.traits import is_integral, restored
from gradtool.verify.protocol.observation import Array

_LARGEST_SPECIAL = 2.0

_LEAST_SPACED = 4
"""Numbers of which not any are evenly spaced."""

_SPACING = 1e-9
"""Relative difference of distances that are the same."""

_MOVED = (0.35, -0.2, 0.15)
"""Parts of the distance by which numbers of a grid are moved."""


def uneven(point: Point) -> Iterator[Variant]:
    """Yield variants of evenly spaced numbers, as a grid has, with other distances inside."""
    for at, array in point.continuous():
        if array.dtype != np.float64 or array.ndim != 1 or array.size < _LEAST_SPACED:
            continue
        steps = np.diff(array)
        if not steps.all() or not np.allclose(steps, steps[0], rtol=_SPACING):
            continue
        moved = array.copy()
        inner = moved[1:-1]
        inner += steps[0] * np.resize(_MOVED, inner.shape)
        yield Variant(point.having({at: moved}), f"`{point.names[at]}` is not evenly spaced")


def less_special(
    point: Point, may_weigh: Callable[[str], bool], is_nonzero: Callable[[str], bool]
) -> Iterator[Variant]:
    """Yield variants in which tensors of nothing but one small integer have other values.

    A term times zero, a power of one, or a product with ones is no evidence for its factor. Of
    what requires a gradient, other whole numbers become fractions too, and so do those of weights
    (`may_weigh` tells the name of a weight). What may be all but zero (`is_nonzero` tells its name)
    gets both signs.
    """
    for at, array in point.continuous():
        name = point.names[at]
        is_free = at in point.tracked or not is_mark(name) or may_weigh(name)
        if is_free and _is_constant(array):
            spread = np.linspace(0.6, 0.97, array.size).reshape(array.shape)
            made = restored(array, (array * spread).astype(array.dtype))
            change = f"`{point.names[at]}` is not {array.flat[0]:g} everywhere"
            yield Variant(point.having({at: made}), change, is_less_special=True)
        if not is_integral(array) or not is_free:
            continue
        spread = np.linspace(0.6, 0.9, array.size).reshape(array.shape)
        moved = (array * spread if array.any() else 0.5 * spread).astype(array.dtype)
        if is_nonzero(point.names[at]):
            moved = moved * np.resize([-1, 1], array.shape).astype(array.dtype)
        if array.min() == array.max() and abs(array.min()) <= _LARGEST_SPECIAL:
            change = f"`{point.names[at]}` is not {array.min():g} everywhere"
            yield Variant(point.having({at: moved}), change, is_less_special=True)
        elif may_weigh(point.names[at]):
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
    every = {point.names[at] for at, _ in point.continuous()}
    is_conjugated = any(said.is_conjugated(point.names[at]) for at in floats)
    either = every if is_conjugated else said.real_or_complex(every)
    made = {at: array * _phases(array) for at, array in floats.items() if point.names[at] in either}
    if made:
        which = " and ".join(f"`{point.names[at]}`" for at in made)
        change = (
            "all tensors are" if either == every else f"{which} {'is' if len(made) == 1 else 'are'}"
        )
        yield Variant(point.having(made), f"{change} complex")
        first = min(made)
        if either == every and len(made) > 1 and made[first].ndim:
            alone = point.having({first: made[first]})
            yield Variant(alone, f"only `{point.names[first]}` is complex")
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
    # Angles below a right one keep the signs of real parts, such as those of decays.
    return np.asarray(np.exp(1j * np.linspace(0.4, 1.3, array.size).reshape(array.shape)))


def learned(
    function: Any, point: Point, find_changed: Callable[[], Collection[int]], *, is_asked: bool
) -> Iterator[Variant]:
    """Yield variants in which one more tensor requires a gradient, if backward computes it.

    Where backward asks which gradients are needed (`is_asked`), it must not raise for one. What
    forward changes in place (`find_changed` runs it) is a buffer.
    """
    asked = asked_for(function)
    free = [
        at
        for at, array in point.continuous()
        if at not in point.tracked
        if not is_integral(array) or at in asked or _is_learned(function, point.names[at])
    ]
    changed = find_changed() if free else ()
    for at in free:
        if at not in changed:
            yield with_gradient(function, point, at, may_raise=not is_asked)


def _is_learned(function: Any, name: str) -> bool:
    said = wording(function)
    return said.is_learned(name) or said.is_initial_state(name)


def with_gradient(function: Any, point: Point, at: int, *, may_raise: bool = True) -> Variant:
    """The variant in which a tensor requires a gradient, which is not None if it is learned.

    The gradient of an initial state goes on to the part of a sequence before it.
    """
    is_learned = _is_learned(function, point.names[at])
    return Variant(
        replace(point, tracked=point.tracked | {at}),
        f"`{point.names[at]}` requires a gradient",
        may_lack=None if is_learned else at,
        is_learned=at if is_learned else None,
        may_raise=may_raise,
        is_less_special=True,
    )
