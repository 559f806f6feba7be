"""Axes that are equally long in a case, and those of them that belong together by their names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.adapters.library import library
from gradtool.explore.point import Axis, Point
from gradtool.explore.reading.names import is_length, is_mark
from gradtool.verify.protocol.observation import Array

_MOST_PAIRS = 6
"""Pairs of axes without names that are changed without the rest of their group."""


class AxisGroup(msgspec.Struct, frozen=True):
    """Axes of one extent.

    Args:
        extent: Their number of entries.
        axes: The axes.
        numbers: Positions of plain integers that are as large.
        ends: Positions of offsets that end at the extent.
        sums: Positions of lengths that add up to it.
        least: The least extent that fits the indices and offsets among the arguments.
        is_part: Axes without a name, which may belong to them, are as long.
    """

    extent: int
    axes: tuple[Axis, ...]
    numbers: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    sums: tuple[int, ...] = ()
    least: int = 1
    is_part: bool = False

    @property
    def tensors(self) -> list[int]:
        """The positions of the tensors that have the axes."""
        return list(dict.fromkeys(at for at, _ in self.axes))

    @property
    def others(self) -> tuple[int, ...]:
        """The positions of the arguments that depend on the extent without having the axes."""
        return (*self.numbers, *self.ends, *self.sums)

    def resized(self, point: Point, extent: int) -> dict[int, Any]:
        """The arguments other than the tensors that change with the extent."""
        changed: dict[int, Any] = dict.fromkeys(self.numbers, extent)
        more = dict.fromkeys(self.ends, extent)
        more |= {at: point.values[at][-1] + extent - self.extent for at in self.sums}
        for at, last in more.items():
            made = point.values[at].copy()
            made[-1] = max(last, made[-2] if at in self.ends else 0)
            changed[at] = made
        return changed


def tied_axes(points: Sequence[Point]) -> set[Axis]:
    """The axes whose extent differs between cases only where that of another argument does.

    The one may be computed from the other: a half and one more, as of frequencies. Axes that are
    equally long in all cases are tied by that already.
    """
    extents = [_extents(point) for point in points]
    shared = [axis for axis in extents[0] if all(axis in each for each in extents)]
    series = {axis: tuple(each[axis] for each in extents) for axis in shared}
    alone = [
        axis
        for axis in shared
        if not any(series[axis] == series[other] for other in shared if other[0] != axis[0])
    ]
    return {axis for axis in alone if _is_tied(axis, alone, series)}


def _extents(point: Point) -> dict[Axis, int]:
    return {
        (at, axis): extent
        for at, array in point.arrays()
        for axis, extent in enumerate(array.shape)
    }


def _is_tied(axis: Axis, alone: Sequence[Axis], series: Mapping[Axis, Sequence[int]]) -> bool:
    others = [series[other] for other in alone if other[0] != axis[0]]
    changes = [
        (one, two)
        for one, two in combinations(range(len(series[axis])), 2)
        if series[axis][one] != series[axis][two]
    ]
    return bool(changes) and all(
        any(other[one] != other[two] for other in others) for one, two in changes
    )


def axis_groups(
    point: Point, fixed: Collection[Axis] = (), names: Mapping[Axis, str] | None = None
) -> list[AxisGroup]:
    """The groups of a point: by name where axes of one extent have several, then by extent alone.

    Args:
        point: The arguments of the case.
        fixed: Axes that are left as they are.
        names: Names of axes.
    """
    by_extent: dict[tuple[int, int], list[Axis]] = {}
    for at, array in point.arrays():
        for axis, extent in enumerate(array.shape):
            # Axes of extent one may have nothing in common but where they are.
            place = axis if extent == 1 else 0
            if (at, axis) not in fixed:
                by_extent.setdefault((extent, place), []).append((at, axis))
    pinned = _pinned(point)
    together = [
        (extent, axes)
        for (extent, _), axes in by_extent.items()
        if extent and (extent == 1 or extent not in pinned)
    ]
    of_one = [axes for extent, axes in together if extent == 1]
    if len(of_one) > 1:
        together.append((1, [axis for axes in of_one for axis in axes]))
    groups = [_with_others(point, extent, axes) for extent, axes in together]
    named = [part for group in groups for part in _named_parts(point, group, names or {})]
    return [*named, *(group for group in groups if group not in named)]


def _with_others(point: Point, extent: int, axes: Collection[Axis]) -> AxisGroup:
    """The group of some axes, with the arguments that depend on their extent."""
    own = {at for at, _ in axes}
    integers = {
        at: array for at, array in point.arrays() if array.dtype.kind in "iu" and array.size
    }
    flat = {
        at: array
        for at, array in integers.items()
        if array.ndim == 1 < array.size and at not in own
    }
    ends = tuple(at for at, array in flat.items() if array[-1] == extent and _are_offsets(array))
    return AxisGroup(
        extent,
        tuple(axes),
        numbers=tuple(at for at in point.plain if _is_equal(point.values[at], extent)),
        ends=ends if extent > 1 else (),
        sums=tuple(
            at for at, array in flat.items() if array.sum() == extent > 1 and at not in ends
        ),
        least=_least(extent, integers.values(), [flat[at] for at in flat if at not in ends]),
    )


def _least(extent: int, integers: Iterable[Array], flat: Iterable[Array]) -> int:
    """The least extent that fits: no less than what offsets end at, nor than an index as large."""
    if extent in {int(array.max()) for array in integers}:
        return extent
    inside = [int(each[-1]) for each in flat if _are_offsets(each) and each[-1] < extent]
    return max(inside, default=1)


def _are_offsets(array: Array) -> bool:
    return not array[0] and bool((np.diff(array) >= 0).all())


def _named_parts(point: Point, group: AxisGroup, names: Mapping[Axis, str]) -> Iterator[AxisGroup]:
    """Yield the axes of each name, if a group has several of them, or one and axes without.

    Axes without a name may belong to any: axes of tensors without a gradient change with them only.
    """
    by_name: dict[str, list[Axis]] = {}
    for axis in group.axes:
        by_name.setdefault(names.get(axis, ""), []).append(axis)
    nameless = by_name.pop("", [])
    if len(by_name) + bool(nameless) < 2:
        return
    followers = [axis for axis in nameless if _follows_a_batch(point, axis)]
    for name, axes in by_name.items():
        if followers and any(axis == 0 for _, axis in axes):
            axes, nameless = [*axes, *followers], [a for a in nameless if a not in followers]
            followers = []
        is_tracked = any(at in point.tracked for at, _ in axes)
        parts = [axes] if is_tracked or not nameless else []
        for part in [*parts, [*axes, *nameless]] if nameless else parts:
            made = _with_others(point, group.extent, part)
            of_name = tuple(at for at in made.numbers if point.names[at] == name)
            is_part = len(part) == len(axes) and bool(nameless)
            yield replace(made, numbers=of_name or made.numbers, is_part=is_part)


def _follows_a_batch(point: Point, axis: Axis) -> bool:
    """Return True for the first axis of labels or lengths, of which each row of a batch has one."""
    at, place = axis
    return place == 0 and (is_mark(point.names[at]) or is_length(point.names[at]))


def pairs(point: Point, group: AxisGroup, names: Mapping[Axis, str]) -> Iterator[tuple[Axis, ...]]:
    """Yield two axes of different tensors, or all but two, of a group in which few have names.

    A batch and a table may be equally long by chance. Tensors with the same two names and another
    number, as `q1` and `k1` beside `q2` and `k2`, are parts of one kind.
    """
    nameless = [axis for axis in group.axes if axis not in names]
    if len(nameless) < 3 or len(group.axes) < 4:
        return
    chosen = [pair for pair in combinations(nameless, 2) if pair[0][0] != pair[1][0]]
    numbered = _numbered(point)
    if len(set(numbered.values())) > 1:
        chosen = [pair for pair in chosen if not {at for at, _ in pair} <= numbered.keys()]
    # Axes at the same place first, as those of a batch are.
    chosen.sort(key=lambda pair: pair[0][1] != pair[1][1])
    for pair in chosen[:_MOST_PAIRS]:
        yield pair
        yield tuple(axis for axis in group.axes if axis not in pair)


def _numbered(point: Point) -> dict[int, str]:
    """Map tensors to their names without a number, of which another one has the same."""
    stems = {at: point.names[at].rstrip("0123456789") for at in point.tensors}
    return {
        at: stem
        for at, stem in stems.items()
        if stem != point.names[at] and list(stems.values()).count(stem) > 1
    }


def _is_equal(number: Any, extent: int) -> bool:
    return type(number) is int and number == extent and extent > 2


def _pinned(point: Point) -> set[int]:
    """Extents that lists or tuples among the arguments may refer to."""
    pinned: set[int] = set()
    for at in point.plain:
        value = point.values[at]
        if not isinstance(value, list | tuple):
            continue
        if all(type(each) is int for each in value):
            pinned |= {*value, sum(value), int(np.prod(value)) if value else 1}
        elif any(isinstance(each, library().Tensor) for each in value):
            pinned.add(len(value))  # As of weights, one for each tensor.
    return pinned
