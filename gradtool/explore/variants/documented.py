"""Variants that docstrings allow: more leading axes, broadcast arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from gradtool.collect.checkable import Checkable
from gradtool.explore.observed import shapes_met
from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.shared_axes import compared_with_one
from gradtool.explore.reading.wording import wording
from gradtool.explore.traits import traits
from gradtool.explore.variants.ranks import NEW, along_some_axes, with_axis
from gradtool.explore.variants.stated_shapes import instead_of_numbers, of_stated_rank

_DOUBLE = (np.float64, np.complex128)

_TINY, _HUGE = 2.0**-560, 2.0**532


def documented(checkable: Checkable, point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants of the shapes and sizes that the docstrings speak of."""
    said = wording(checkable.obj)
    yield from of_stated_rank(said.docstrings, point, rng)
    yield from _shared(checkable.obj, point)
    yield from instead_of_numbers(said.docstrings, point)
    if said.is_of_any_size:
        yield from _extreme(point)
    is_free = {at for at, array in point.continuous() if not _is_bound(array) and array.ndim}
    named = said.with_any_leading_axes(point.names)
    leading = [at for at in sorted(is_free) if named and point.names[at] in named]
    if named is None and is_free:
        yield _with_axis(point, _alike_in_front(point, sorted(is_free)), rng)
    in_front = _alone_and_of_one_rank(point, leading)
    for chosen in in_front:
        yield _with_axis(point, chosen, rng)
    for chosen in in_front[-1:]:
        yield _with_axis(point, chosen, rng, count=2)
    alike = _of_one_shape(point, sorted(is_free), said.of_any_shape(point.names))
    if alike:
        yield _with_axis(point, alike, rng)
    last = said.with_any_last_axes(point.names)
    trailing = [at for at in sorted(is_free) if point.names[at] in last]
    for chosen in _alone_and_of_one_rank(point, trailing):
        yield _with_axis(point, chosen, rng, is_last=True)
    broadcast = [at for at in _broadcastable(point) if said.may_broadcast(point.names[at])]
    free = sorted(is_free & point.tracked)
    summed = [at for at in free if at not in broadcast and said.is_summed_to(point.names[at])]
    met = shapes_met(checkable, point) if broadcast or summed else {}
    for chosen in _alone_and_alike(point, broadcast):
        yield from along_some_axes(point, chosen, rng, met=met)
    yield from _beside(point, broadcast, is_free, rng)
    yield from _of_several_numbers(point, said.may_broadcast, rng)
    for at in summed:
        keeps_last = said.goes_along_last_axis
        yield from along_some_axes(point, (at,), rng, met=met, keeps_last=keeps_last)


def _alone_and_of_one_rank(point: Point, places: Sequence[int]) -> list[tuple[int, ...]]:
    """Each of several arguments, then those of its rank together."""
    ranks = {at: point.values[at].ndim for at in places}
    found = [
        chosen
        for at in places
        for chosen in ((at,), tuple(each for each in places if ranks[each] == ranks[at]))
    ]
    return list(dict.fromkeys(found))


def _alike_in_front(point: Point, places: Sequence[int]) -> list[int]:
    """The first of some tensors, and those that share its rank and all its axes but the last."""
    first = point.values[places[0]]
    return [
        at
        for at in places
        if at == places[0]
        or (
            point.values[at].ndim == first.ndim > 1
            and point.values[at].shape[:-1] == first.shape[:-1]
        )
    ]


def _of_one_shape(point: Point, places: Sequence[int], names: Collection[str]) -> list[int]:
    """The first of some tensors that is among `names`, and all that have its shape."""
    first = next((at for at in places if point.names[at] in names), None)
    if first is None:
        return []
    return [at for at in places if point.values[at].shape == point.values[first].shape]


def _beside(
    point: Point, broadcast: Sequence[int], is_free: Collection[int], rng: np.random.Generator
) -> Iterator[Variant]:
    """Variants in which the other arguments have one more axis than those that are broadcast."""
    others = [at for at in sorted(is_free) if at not in broadcast]
    if broadcast and others:
        made = {at: with_axis(point.values[at], 0, rng) for at in others}
        names = " and ".join(f"`{point.names[at]}`" for at in others)
        verb = "has" if len(others) == 1 else "have"
        yield Variant(point.having(made), f"{names} {verb} one more leading axis", may_raise=False)


def _of_several_numbers(
    point: Point, may_broadcast: Callable[[str], bool], rng: np.random.Generator
) -> Iterator[Variant]:
    """Variants of 0-d tensors that are broadcast, with the shapes that others have."""
    models = [array.shape for _, array in point.continuous() if array.ndim]
    shapes = dict.fromkeys(shape for model in models for shape in (model[-1:], model))
    for at, array in point.continuous():
        if array.ndim or at not in point.tracked or not may_broadcast(point.names[at]):
            continue
        for shape in shapes:
            made = (array * rng.uniform(0.7, 1.3, shape)).astype(array.dtype)
            change = f"`{point.names[at]}` has the shape {list(shape)}"
            yield Variant(point.having({at: made}), change, has_stated_shape=True)


def _broadcastable(point: Point) -> list[int]:
    """Positions of the tensors with a gradient, and of masks, whose shape is free."""
    return [
        at
        for at, array in point.arrays()
        if array.ndim and (at in point.tracked or array.dtype.kind == "b") and not _is_bound(array)
    ]


def _alone_and_alike(point: Point, places: Sequence[int]) -> list[tuple[int, ...]]:
    """Each of several arguments, then those of one shape together: scale and shift often agree."""
    shapes = {at: point.values[at].shape for at in places}
    alike = {shape: tuple(at for at in places if shapes[at] == shape) for shape in shapes.values()}
    return list(dict.fromkeys([*((at,) for at in places), *alike.values()]))


def _shared(function: Any, point: Point) -> Iterator[Variant]:
    """Variants in which one tensor has extent one, which the source asks for, and others not."""
    compared = compared_with_one(function)
    for at, array in point.continuous():
        axes = compared.get(point.names[at], set())
        for axis in range(array.ndim) if axes is None else sorted(axes):
            if not -array.ndim <= axis < array.ndim or array.shape[axis] < 2 or _is_bound(array):
                continue
            from_the_end = axis % array.ndim - array.ndim
            if any(
                other.ndim >= -from_the_end and other.shape[from_the_end] == array.shape[axis]
                for each, other in point.arrays()
                if each != at
            ):
                one = np.take(array, [0], axis)
                change = f"`{point.names[at]}` has the shape {list(one.shape)}"
                yield Variant(point.having({at: one}), change)


def _extreme(point: Point) -> Iterator[Variant]:
    """Variants of which the squares are zero, or infinite.

    A single number may be an exponent, and is left as it is.
    """
    scaled = {
        at: array
        for at, array in point.continuous()
        if at in point.tracked and array.dtype in _DOUBLE and array.size > 1
    }
    free = {at: array for at, array in scaled.items() if not _is_bound(array)}
    for at, array in free.items():
        change = f"values of `{point.names[at]}` are about 1e-169"
        yield Variant(point.having({at: array * _TINY}), change, only_finite=True)
    if free.keys() != scaled.keys():
        return
    for factor, size in ((_TINY, "1e-169"), (_HUGE, "1e160")):
        if len(scaled) > 1 or factor == _HUGE:
            made = {at: array * factor for at, array in scaled.items()}
            yield Variant(point.having(made), f"all values are about {size}", only_finite=True)


def _is_bound(array: Any) -> bool:
    return any(trait.is_equality for trait in traits(array))


def _with_axis(
    point: Point,
    chosen: Sequence[int],
    rng: np.random.Generator,
    *,
    is_last: bool = False,
    count: int = 1,
) -> Variant:
    """The variant in which arguments of one rank have one or two more axes.

    A tensor that is broadcast along the last axis of another one is so along those behind it.
    """
    axis = point.values[chosen[0]].ndim * is_last
    made = {at: point.values[at] for at in chosen}
    for _ in range(count):
        lasts = {at: array.shape[-1] for at, array in made.items()} if is_last else {}
        broadcast = {at for at, extent in lasts.items() if extent == 1 < max(lasts.values())}
        made = {
            at: with_axis(array, axis, rng, 1 if at in broadcast else NEW)
            for at, array in made.items()
        }
    names = " and ".join(f"`{point.names[at]}`" for at in chosen)
    verb, where = "has" if len(chosen) == 1 else "have", "last" if is_last else "leading"
    more = f"one more {where} axis" if count == 1 else f"two more {where} axes"
    return Variant(point.having(made), f"{names} {verb} {more}", may_raise=False)
