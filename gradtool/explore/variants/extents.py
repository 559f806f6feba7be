"""Variants with other extents: axes that are equally long in a case change together, or apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.adapters.library import library
from gradtool.explore.point import Growth, Point, Variant
from gradtool.explore.traits import is_integral, may_be_reordered, reshaped
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array

Axis = tuple[int, int]
"""An argument's position, and one of its axes."""

_BEYOND = (129, 257)
"""Extents beyond those that a byte or a block of a kernel can hold."""

_MOST_ENTRIES = 4096
"""Entries of all tensors of a variant."""

_MOST_GROUPS = 2
"""Extents that are changed together with an option."""

_MOST_SQUARE_AXES = 4
"""Equally long axes of which each part is changed without the rest."""


class _Group(msgspec.Struct, frozen=True):
    """Axes of one extent."""

    extent: int
    axes: tuple[Axis, ...]
    numbers: tuple[int, ...]
    """Positions of plain integers that are as large."""


def extents(
    point: Point,
    blocks: Sequence[int],
    rng: np.random.Generator,
    *,
    fixed: Collection[Axis] = (),
    keeps_order: bool = False,
    takes_parts: bool = False,
) -> Iterator[Variant]:
    """Yield variants of other extents.

    Args:
        point: The arguments of the case.
        blocks: Integers that may be sizes of blocks: those of the source and of the arguments.
        rng: For what new entries there are.
        fixed: Axes of which each entry has a meaning of its own.
        keeps_order: A matrix that is higher than wide must remain so, as for least squares.
        takes_parts: A tensor may be longer than one without a gradient, which may be about a part.
    """
    for variant in _all_extents(point, blocks, rng, fixed, takes_parts=takes_parts):
        if not keeps_order or _has_order_of(point, variant.point):
            yield variant


def beside_options(
    point: Point, options: Iterable[Variant], rng: np.random.Generator
) -> Iterator[Variant]:
    """Yield variants of another integer among the options, together with other extents.

    A stride that leaves a remainder shows only where the extent is no multiple of it, and groups
    are accepted only where it is one.
    """
    for option in options:
        numbers = [n for n in integers(option.point) if n not in integers(point)]
        if not numbers:
            continue
        groups = [each for each in _groups(option.point) if each.extent > 1]
        for group in groups[:_MOST_GROUPS]:
            for extent in (group.extent + 1, group.extent * numbers[0]):
                for variant in _together(option.point, group, extent, rng):
                    change = f"{option.change}, and {variant.change}"
                    yield replace(variant, change=change, growth=None, may_raise=True)


def _has_order_of(point: Point, other: Point) -> bool:
    return all(
        np.sign(old[-1] - old[-2]) == np.sign(new[-1] - new[-2])
        for old, new in ((point.values[at].shape, other.values[at].shape) for at in point.tensors)
        if len(old) > 1
    )


def _all_extents(
    point: Point,
    blocks: Sequence[int],
    rng: np.random.Generator,
    fixed: Collection[Axis],
    *,
    takes_parts: bool,
) -> Iterator[Variant]:
    groups = _groups(point, fixed)
    rounds = [[*_broadcast(point, group), *_targets(group.extent, blocks)] for group in groups]
    for turn in range(max(map(len, rounds), default=0)):
        for group, targets in zip(groups, rounds, strict=True):
            if turn < len(targets):
                yield from _together(point, group, targets[turn], rng)
        if turn == 0:
            for group in groups:
                yield from _apart(point, group, rng)
                yield from _unequal(point, group, rng, takes_parts=takes_parts)


def _groups(point: Point, fixed: Collection[Axis] = ()) -> list[_Group]:
    """The axes by their extents, without those that integers of the case speak of."""
    by_extent: dict[tuple[int, int], list[Axis]] = {}
    for at, array in point.arrays():
        for axis, extent in enumerate(array.shape):
            # Axes of extent one have nothing in common but where they are.
            place = axis if extent == 1 else 0
            if (at, axis) not in fixed:
                by_extent.setdefault((extent, place), []).append((at, axis))
    pinned = _pinned(point)
    numbers = {at: point.values[at] for at in point.plain}
    return [
        _Group(extent, tuple(axes), tuple(at for at, n in numbers.items() if _is_equal(n, extent)))
        for (extent, _), axes in by_extent.items()
        if extent and (extent == 1 or extent not in pinned)
    ]


def _is_equal(number: Any, extent: int) -> bool:
    return type(number) is int and number == extent and extent > 2


def _pinned(point: Point) -> set[int]:
    """Extents that index tensors or tuples of integers may refer to."""
    pinned: set[int] = set()
    for _, array in point.arrays():
        if array.dtype.kind in "iu" and array.size:
            flat = array.reshape(-1)
            # Offsets end at an extent, and lengths add up to one.
            pinned |= {int(flat[-1]), int(flat.sum()), int(array.max())}
    for at in point.plain:
        value = point.values[at]
        if not isinstance(value, list | tuple):
            continue
        if all(type(each) is int for each in value):
            pinned |= {*value, sum(value), int(np.prod(value)) if value else 1}
        elif any(isinstance(each, library().Tensor) for each in value):
            pinned.add(len(value))  # As of weights, one for each tensor.
    return pinned


def integers(point: Point) -> list[int]:
    """The plain integers among the arguments that may be extents or sizes of blocks."""
    return [v for v in (point.values[at] for at in point.plain) if type(v) is int and 1 < v < 300]


def _targets(extent: int, blocks: Sequence[int]) -> Iterator[int]:
    beside = [extent + 1, 1, extent - 1, 2 * extent + 1, 7]
    partial = [
        each for block in blocks for each in (2 * block + 1, block + 1, block - 1, 2 * block)
    ]
    first = [n for block in blocks if extent % block == 0 for n in (extent + 1, extent + block - 1)]
    for target in dict.fromkeys([*first, *beside, *partial, *_BEYOND]):
        if target > 0 and target != extent:
            yield target


def _broadcast(point: Point, group: _Group) -> Iterator[int]:
    """Yield the extents to which forward may broadcast an axis of extent one."""
    if group.extent != 1:
        return
    for (at, axis), (other, array) in product(group.axes, point.arrays()):
        from_the_end = axis - point.values[at].ndim
        if other != at and array.ndim >= -from_the_end and array.shape[from_the_end] > 1:
            yield array.shape[from_the_end]


def _together(
    point: Point, group: _Group, extent: int, rng: np.random.Generator
) -> Iterator[Variant]:
    made = _resized(point, group.axes, extent, rng, group.numbers)
    if made is not None:
        doubled = _resized(point, group.axes, 2 * group.extent, rng, group.numbers)
        growth = Growth(group.extent, extent, point, doubled) if doubled else None
        change = _described(point, group, extent)
        may_raise = group.extent == 1 or growth is None
        yield Variant(made, change, growth, names_extents=not group.numbers, may_raise=may_raise)


def _apart(point: Point, group: _Group, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants in which some of the axes are longer and others are not.

    Only where a tensor is square, whose shape is then likely to be a coincidence.
    """
    is_square = len({at for at, _ in group.axes}) < len(group.axes) <= _MOST_SQUARE_AXES
    if not is_square or group.numbers:
        return
    if any(not is_continuous(point.values[at].dtype) for at, _ in group.axes):
        return
    parts = [
        chosen for count in range(1, len(group.axes)) for chosen in combinations(group.axes, count)
    ]
    for extent in _longer(group):
        for chosen in parts:
            made = _resized(point, chosen, extent, rng)
            if made is not None:
                change = _described(point, replace(group, axes=chosen), extent)
                yield Variant(made, change, names_extents=True)


def _longer(group: _Group) -> tuple[int, int]:
    """Larger extents: one more, and the double, which is a multiple of all that this one is."""
    return group.extent + 1, 2 * group.extent


def _unequal(
    point: Point, group: _Group, rng: np.random.Generator, *, takes_parts: bool
) -> Iterator[Variant]:
    """Yield variants in which one of several tensors with gradients is longer, or the others are.

    Two sets of points, or two sequences, need not have the same length; queries may be fewer than
    keys and values. A table without a gradient may be about the first entries of an axis only.
    """
    tensors = list(dict.fromkeys(at for at, _ in group.axes))
    if len(tensors) < 2 or group.numbers or group.extent < 2:
        return
    tracked = point.tracked & {*tensors}
    parts: list[Collection[int]] = [{at} for at in tensors]
    parts += [{*tensors} - {at} for at in tensors] if len(tensors) > 2 else []
    if tracked != {*tensors}:
        parts = [tracked] if takes_parts and tracked else []
    for extent in _longer(group):
        for part in parts:
            axes = tuple(axis for axis in group.axes if axis[0] in part)
            made = _resized(point, axes, extent, rng) if len(axes) == len(part) else None
            if made is not None:
                change = _described(point, replace(group, axes=axes), extent)
                yield Variant(made, change, names_extents=True)


def _resized(
    point: Point,
    axes: Sequence[Axis],
    extent: int,
    rng: np.random.Generator,
    numbers: Sequence[int] = (),
) -> Point | None:
    """The point with another extent of these axes; None if it is too large, or has lost a trait."""
    changed: dict[int, Any] = dict.fromkeys(numbers, extent)
    for at in sorted({at for at, _ in axes}):
        array = point.values[at]
        shape = tuple(extent if (at, axis) in axes else old for axis, old in enumerate(array.shape))
        if np.prod(shape) > max(_MOST_ENTRIES, 2 * array.size):
            return None
        made = reshaped(array, shape, rng)
        if made is None:
            return None
        changed[at] = _with_extremes_at_ends(made) if extent in _BEYOND else made
    return point.having(changed)


def _with_extremes_at_ends(array: Array) -> Array:
    """The array with its largest entries at the ends of its axes, and in part at their beginnings.

    New entries are smaller than those that they resemble, so the largest would be among the first.
    """
    if array.dtype.kind != "f" or is_integral(array) or not may_be_reordered(array):
        return array
    made = array.copy()
    for axis in range(array.ndim):
        made.sort(axis=axis)
    rows = made.reshape(-1, made.shape[-1])
    rows[1::2] = rows[1::2, ::-1]
    return made


def _described(point: Point, group: _Group, extent: int) -> str:
    names = list(dict.fromkeys(point.names[at] for at, _ in group.axes))
    tensors = " and ".join(f"`{name}`" for name in names)
    verb = "has" if len(names) == 1 else "have"
    also = "".join(f", and `{point.names[at]}` is {extent}" for at in group.numbers)
    return f"{tensors} {verb} extent {extent} instead of {group.extent}{also}"
