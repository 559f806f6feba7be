"""Variants with other extents: axes that are equally long in a case change together, or apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, permutations, product, zip_longest
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.explore.point import Axis, Growth, Point, Variant
from gradtool.explore.traits import is_integral, may_be_reordered, repeated, reshaped
from gradtool.explore.variants.axis_groups import AxisGroup, axis_groups, pairs
from gradtool.explore.variants.plain import fits, is_choice
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array

_T = TypeVar("_T")

_BEYOND = (257, 129)
"""Extents beyond those that a byte or a block of a kernel can hold, the better one first."""

_MOST_ENTRIES = 4096
"""Entries of all tensors of a variant."""

_LARGE = (33, 17, 9)
"""Extents of all axes at once, of which the largest that fits is tried."""

_MOST_GROUPS = 2
"""Extents that are changed together with an option."""

_MOST_SQUARE_AXES = 4
"""Equally long axes of which each part is changed without the rest."""

_MOST_AXES_OF_MATRICES = 3
"""Axes of a batch of matrices; a tensor with more is an image with channels."""

_MOST_LINKED = 6
"""Pairs of groups, of which one is longer by one or a multiple, that are changed together."""

_LARGEST_RATIO = 4
"""The largest such multiple."""


class Extents(msgspec.Struct, frozen=True, eq=False):
    """Knowledge of the axes of a Function's arguments.

    Args:
        blocks: Integers that may be sizes of blocks: those of the source and of the arguments.
        fixed: Axes of which each entry has a meaning of its own.
        names: Names of axes.
        repeats: Positions of integer tensors whose entries may repeat where they are longer.
        keeps_order: A matrix that is higher than wide must remain so, as for least squares.
        may_be_tall: A square one may become higher than wide.
        tied: Axes that differ between cases only where others do.
        takes_parts: A tensor may be longer than one without a gradient, which may be about a part.
        keeps_bytes: The source keeps integers in a byte, as the places of maxima.
        reads_memory: Forward reads memory by strides, whatever the shapes of tensors.
    """

    blocks: Sequence[int] = ()
    fixed: Collection[Axis] = ()
    names: Mapping[Axis, str] = {}
    repeats: Collection[int] = ()
    keeps_order: bool = False
    may_be_tall: bool = False
    tied: Collection[Axis] = ()
    takes_parts: bool = False
    keeps_bytes: bool = False
    reads_memory: bool = False


def extents(point: Point, known: Extents, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants of other extents.

    Args:
        point: The arguments of the case.
        known: What is known of them.
        rng: For what new entries there are.
    """
    for variant in _all_extents(point, known, rng):
        if not known.keeps_order or _has_order_of(point, variant.point, known):
            yield variant


def large(point: Point, known: Extents, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield a variant in which all axes are long, as beyond a limit of what is computed of them.

    Args:
        point: The arguments of the case.
        known: What is known of them.
        rng: For what new entries there are.
    """
    groups: list[AxisGroup] = []
    for group in axis_groups(point, known.fixed, known.names):
        if not {*group.axes} & {axis for other in groups for axis in other.axes}:
            groups.append(group)
    groups.sort(key=lambda group: group.extent)  # The longest stays the longest.
    for least in _LARGE:
        changes = [(group, least + at) for at, group in enumerate(groups) if group.extent < least]
        made = resized(point, changes, rng, known.repeats) if changes else None
        if made is not None and (not known.keeps_order or _has_order_of(point, made, known)):
            change = f"all extents are about {least}"
            yield Variant(made, change, names_extents=not any(each.others for each in groups))
            return


def beside_options(
    point: Point, options: Iterable[Variant], rng: np.random.Generator, divided: Collection[str]
) -> Iterator[Variant]:
    """Yield variants of other numbers or another choice among the options, with other extents.

    A stride that leaves a remainder shows only where the extent is no multiple of it, groups are
    accepted only where it is one, and a flag may choose what is wrong for odd extents.
    """
    for option in options:
        groups = [each for each in axis_groups(option.point) if each.extent > 1]
        for group in groups[:_MOST_GROUPS]:
            for extent in _beside(group.extent, point, option):
                for variant in _together(option.point, [(group, extent)], rng):
                    change = f"{option.change}, and {variant.change}"
                    # Of what fits exactly no part is left out by accident.
                    names = [point.names[each.at] for each in option.options]
                    values = [variant.point.values[each.at] for each in option.options]
                    is_exact = bool(names) and all(
                        fits(variant.point, name, value, divided)
                        for name, value in zip(names, values, strict=True)
                    )
                    yield replace(variant, change=change, growth=None, may_raise=not is_exact)


def _beside(extent: int, point: Point, option: Variant) -> Iterator[int]:
    """Yield the extents to try with an option; none if no extent may depend on it."""
    numbers = [n for n in integers(option.point) if n not in integers(point)]
    multiples = [extent * n for n in numbers[:1]]
    for changed in option.options:
        ratio = _ratio(changed.before, option.point.values[changed.at])
        multiples += [int(extent * ratio)] if ratio and (extent * ratio).denominator == 1 else []
    if multiples or (len(option.options) < 2 and is_choice(point, option)):
        yield from (extent + 1, *multiples)


def _ratio(before: Any, after: Any) -> Fraction | None:
    """The ratio of the products of two tuples of integers, such as those of factors by axis."""
    products = [
        int(np.prod(each))
        for each in (before, after)
        if isinstance(each, tuple | list) and all(type(part) is int and part for part in each)
    ]
    return Fraction(products[1], products[0]) if len(products) > 1 else None


def _has_order_of(point: Point, other: Point, known: Extents) -> bool:
    return all(
        np.sign(old[-1] - old[-2]) in _orders(new, known)
        for old, new in ((point.values[at].shape, other.values[at].shape) for at in point.tensors)
        if 1 < len(old) <= _MOST_AXES_OF_MATRICES
    )


def _orders(shape: Sequence[int], known: Extents) -> tuple[int, ...]:
    """The orders that the two extents may have had before: -1 for more rows than columns."""
    order = int(np.sign(shape[-1] - shape[-2]))
    return (order, 0) if known.may_be_tall and order < 0 else (order,)


def _all_extents(point: Point, known: Extents, rng: np.random.Generator) -> Iterator[Variant]:
    groups = axis_groups(point, known.fixed, known.names)
    rounds = [[*_broadcast(point, group), *_targets(point, group, known)] for group in groups]
    doubled = [resized(point, [(group, 2 * group.extent)], rng, known.repeats) for group in groups]
    for turn in range(max(map(len, rounds), default=0)):
        for group, targets, double in zip(groups, rounds, doubled, strict=True):
            # Along an axis of one, a part would be broadcast against the axes without a name.
            if turn < len(targets) and not (group.is_part and targets[turn] == 1):
                change = [(group, targets[turn])]
                yield from _together(point, change, rng, known.repeats, double)
        if turn == 0:
            for linked in _linked(groups):
                is_named = all(axis in known.names for group, _ in linked for axis in group.axes)
                for variant in _together(point, linked, rng, known.repeats):
                    yield replace(variant, may_raise=not is_named)
            if not known.reads_memory:
                yield from in_turns([_of_parts(point, group, known, rng) for group in groups])


def _of_parts(
    point: Point, group: AxisGroup, known: Extents, rng: np.random.Generator
) -> Iterator[Variant]:
    """Yield variants in which some axes of a group are longer, and others, or numbers, are not."""
    tracked = tuple(axis for axis in group.axes if axis[0] in point.tracked)
    if known.takes_parts and group.numbers and tracked:
        alone = replace(group, axes=tracked, numbers=())
        for extent in _longer(group):
            yield from _together(point, [(alone, extent)], rng)
    yield from _apart(point, group, rng)
    yield from _unequal(point, group, rng, takes_parts=known.takes_parts)
    yield from _in_pairs(point, group, known, rng)


def in_turns(streams: Sequence[Iterator[_T]]) -> Iterator[_T]:
    """Yield the first item of each of some streams, then the second of each."""
    rows = chain.from_iterable(zip_longest(*streams))
    yield from (each for each in rows if each is not None)


def _linked(groups: Sequence[AxisGroup]) -> Iterator[list[tuple[AxisGroup, int]]]:
    """Yield groups with other extents, of which one remains longer by one or a multiple.

    First where both have an axis at the same place, as the heads of queries and of keys do.
    """
    found: list[tuple[bool, list[tuple[AxisGroup, int]]]] = []
    for one, other in permutations(groups, 2):
        both = {axis for _, axis in one.axes} & {axis for _, axis in other.axes}
        if {*one.axes} & {*other.axes}:
            continue
        ratio, rest = divmod(other.extent, one.extent)
        if other.extent == one.extent + 1 > 2:
            found.append((not both, [(one, one.extent + 2), (other, other.extent + 2)]))
        elif not rest and 1 < ratio <= _LARGEST_RATIO:
            longer = one.extent + 1
            found.append((not both, [(one, longer), (other, ratio * longer)]))
    found.sort(key=lambda each: each[0])
    yield from (linked for _, linked in found[:_MOST_LINKED])


def integers(point: Point) -> list[int]:
    """The plain integers among the arguments that may be extents or sizes of blocks."""
    return [v for v in (point.values[at] for at in point.plain) if type(v) is int and 1 < v < 300]


def _targets(point: Point, group: AxisGroup, known: Extents) -> Iterator[int]:
    """Yield other extents; not one for what depends on others, which would be broadcast instead."""
    beyond = [extent for extent in _BEYOND if _fits(point, group, extent)][:1]
    extent, blocks = group.extent, known.blocks
    least = 2 if group.axes and {*group.axes} <= {*known.tied} else 1
    # Of very few entries, both ends lie in one window.
    beside = [extent + 1, 1, extent - 1, 2 * extent, 2 * extent + 1, 7, 3, 2]
    partial = [
        each for block in blocks for each in (2 * block + 1, block + 1, block - 1, 2 * block)
    ]
    first = [n for block in blocks if extent % block == 0 for n in (extent + 1, extent + block - 1)]
    near = [*first, *beside, *partial]
    for target in dict.fromkeys([*beyond, *near] if known.keeps_bytes else [*near, *beyond]):
        if target >= max(least, group.least) and target != extent:
            yield target


def _fits(point: Point, group: AxisGroup, extent: int) -> bool:
    """Return True if no tensor gets too many entries from one other extent of a group."""
    for at in group.tensors:
        shape = list(point.values[at].shape)
        for axis in (axis for other, axis in group.axes if other == at):
            shape[axis] = extent
        if np.prod(shape) > _MOST_ENTRIES:
            return False
    return True


def _broadcast(point: Point, group: AxisGroup) -> Iterator[int]:
    """Yield the extents to which forward may broadcast an axis of extent one."""
    if group.extent != 1:
        return
    for (at, axis), (other, array) in product(group.axes, point.arrays()):
        from_the_end = axis - point.values[at].ndim
        if other != at and array.ndim >= -from_the_end and array.shape[from_the_end] > 1:
            yield array.shape[from_the_end]


def _together(
    point: Point,
    changes: Sequence[tuple[AxisGroup, int]],
    rng: np.random.Generator,
    repeats: Collection[int] = (),
    doubled: Point | None = None,
) -> Iterator[Variant]:
    """Yield the variant in which each of some groups has another extent.

    `doubled` is the point with twice the extent of the only group, where that is known.
    """
    made = resized(point, changes, rng, repeats)
    if made is None:
        return
    growth = None
    if doubled is not None:
        [(group, extent)] = changes
        growth = Growth(group.extent, extent, point, doubled, group.is_part)
    yield Variant(
        made,
        ", and ".join(_described(point, group, extent) for group, extent in changes),
        growth,
        names_extents=not any(group.others for group, _ in changes),
        may_raise=growth is None or changes[0][0].extent == 1,
    )


def _apart(point: Point, group: AxisGroup, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants in which some of the axes are longer and others are not.

    Only where a tensor is square, whose shape is then likely to be a coincidence.
    """
    is_square = len({at for at, _ in group.axes}) < len(group.axes) <= _MOST_SQUARE_AXES
    if not is_square or group.others:
        return
    if any(not is_continuous(point.values[at].dtype) for at, _ in group.axes):
        return
    parts = [
        chosen for count in range(1, len(group.axes)) for chosen in combinations(group.axes, count)
    ]
    for extent in _longer(group):
        for chosen in parts:
            yield from _part(point, group, chosen, extent, rng)


def _longer(group: AxisGroup) -> tuple[int, int]:
    """Larger extents: one more, and the double, which is a multiple of all that this one is."""
    return group.extent + 1, 2 * group.extent


def _unequal(
    point: Point, group: AxisGroup, rng: np.random.Generator, *, takes_parts: bool
) -> Iterator[Variant]:
    """Yield variants in which one of several tensors with gradients is longer, or the others are.

    Two sets of points, or two sequences, need not have the same length; queries may be fewer than
    keys and values. A table without a gradient may be about the first entries of an axis only.
    """
    tensors = group.tensors
    if len(tensors) < 2 or group.others or group.extent < 2:
        return
    tracked = point.tracked & {*tensors}
    parts: list[Collection[int]] = [{at} for at in tensors]
    parts += [{*tensors} - {at} for at in tensors] if len(tensors) > 2 else []
    if tracked != {*tensors}:
        parts = [tracked] if takes_parts and tracked else []
    for extent in _longer(group):
        for part in parts:
            axes = tuple(axis for axis in group.axes if axis[0] in part)
            if len(axes) == len(part):
                double = resized(point, [(replace(group, axes=axes), 2 * group.extent)], rng)
                for variant in _part(point, group, axes, extent, rng):
                    yield _with_growth(variant, point, group, extent, double)


def _with_growth(
    variant: Variant, point: Point, group: AxisGroup, extent: int, doubled: Point | None
) -> Variant:
    """The variant of a longer tensor, which backward has to take where an output is longer too."""
    if doubled is None:
        return variant
    growth = Growth(group.extent, extent, point, doubled, is_of_part=True)
    return replace(variant, growth=growth, may_raise=False)


def _in_pairs(
    point: Point, group: AxisGroup, known: Extents, rng: np.random.Generator
) -> Iterator[Variant]:
    """Yield variants in which two axes are longer than others of their group, or the others are."""
    if not group.others:
        for axes in pairs(point, group, known.names):
            yield from _part(point, group, axes, group.extent + 1, rng, known.repeats)


def _part(
    point: Point,
    group: AxisGroup,
    axes: tuple[Axis, ...],
    extent: int,
    rng: np.random.Generator,
    repeats: Collection[int] = (),
) -> Iterator[Variant]:
    """Yield the variant in which some axes of a group have another extent, which may not fit."""
    part = replace(group, axes=axes)
    made = resized(point, [(part, extent)], rng, repeats)
    if made is not None:
        yield Variant(made, _described(point, part, extent), names_extents=True)


def resized(
    point: Point,
    changes: Sequence[tuple[AxisGroup, int]],
    rng: np.random.Generator,
    repeats: Collection[int] = (),
) -> Point | None:
    """The point with other extents of groups; None if it is too large, or has lost a trait."""
    changed: dict[int, Any] = {}
    for group, extent in changes:
        changed |= group.resized(point, extent)
    after = {axis: extent for group, extent in changes for axis in group.axes}
    is_beyond = any(extent in _BEYOND for extent in after.values())
    for at in sorted({at for at, _ in after}):
        array = point.values[at]
        shape = tuple(after.get((at, axis), old) for axis, old in enumerate(array.shape))
        if np.prod(shape) > max(_MOST_ENTRIES, 2 * array.size):
            return None
        made = (repeated if at in repeats else reshaped)(array, shape, rng)
        if made is None:
            return None
        changed[at] = _with_extremes_at_ends(made) if is_beyond else made
    if not is_beyond:
        for group, _ in changes:
            changed |= _kept_beside(point, group, changed)
    return point.having(changed)


def _kept_beside(point: Point, group: AxisGroup, made: Mapping[int, Any]) -> dict[int, Array]:
    """Larger tensors whose entries stay beside those that are at the same places in the case.

    Numbers that are in order take new ones in between, where the others have theirs at the end.
    """
    for at, axis in group.axes:
        order = _order_of_new(point.values[at], made[at]) if at in made and not axis else None
        if order is not None:
            return {
                other: np.take(made[other], order, axis=along)
                for other, along in group.axes
                if other != at and may_be_reordered(point.values[other])
            }
    return {}


def _order_of_new(array: Array, made: Array) -> Array | None:
    """The order in which the old entries of numbers in strict order, and then new ones, lie now.

    None where they lie so already.
    """
    if array.ndim != 1 or array.dtype.kind != "f" or not 1 < len(array) < len(made):
        return None
    sign = np.sign(array[1] - array[0])
    if not sign or not np.isin(array, made).all():
        return None
    if not all((sign * np.diff(each) > 0).all() for each in (array, made)):
        return None
    places = np.searchsorted(sign * made, sign * array)
    order = np.zeros(len(made), dtype=int)
    order[places] = np.arange(len(array))
    new = np.setdiff1d(np.arange(len(made)), places)
    order[new] = np.arange(len(array), len(made))
    return None if (order == np.arange(len(made))).all() else order


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
    # The first row has the least entry of all, and the last the largest: both go to the end.
    turned = slice(0, None, 2) if len(rows) > 1 else slice(0)
    rows[turned] = rows[turned, ::-1]
    return made


def _described(point: Point, group: AxisGroup, extent: int) -> str:
    names = [point.names[at] for at in group.tensors]
    tensors = " and ".join(f"`{name}`" for name in names)
    verb = "has" if len(names) == 1 else "have"
    also = [f", and `{point.names[at]}` is {extent}" for at in group.numbers]
    also += [f", and `{point.names[at]}` ends at {extent}" for at in group.ends]
    also += [f", and `{point.names[at]}` adds up to {extent}" for at in group.sums]
    return f"{tensors} {verb} extent {extent} instead of {group.extent}{''.join(also)}"
