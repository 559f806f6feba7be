"""Variants of integer tensors: repeated indices, and segments of one element.

The gradient of what is read twice is a sum. What forward writes to one place twice has no defined
order, so indices by which it writes stay distinct.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
from msgspec.structs import replace

from gradtool.collect.checkable import Checkable
from gradtool.explore.excuses import has_same_outputs
from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.index_uses import index_uses, marks_by_minus_one, names_in, sorts
from gradtool.explore.reading.names import is_axis, is_count, is_order
from gradtool.explore.reading.source import ends_of_ranges, forward_nodes
from gradtool.explore.reading.views import viewed, wholes
from gradtool.explore.reading.wording import wording
from gradtool.explore.reading.wording.roles import ignored_labels
from gradtool.explore.traits import (
    is_offsets,
    is_permutation,
    is_permutation_along,
    is_permutation_along_some_axis,
    traits,
)
from gradtool.verify.protocol.observation import Array

_LEAST_NOT_OWN_INVERSE = 3
"""Entries of which some order is not its own inverse."""

_LARGEST_IN_A_BYTE = 255

_PLACES = 20
"""Places along an axis, of which the square is beyond a byte."""

_ORDERS = 3
"""Orders to try: of three or four entries, half of all orders are their own inverses."""


def repeated(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants in which two entries of an index tensor are the same."""
    names, direct = _only_read(function)
    labels = _compared_with_itself(function)
    may_be_any = wording(function).may_repeat
    for at, array in point.arrays():
        name = point.names[at]
        if array.dtype.kind not in "iu":
            continue
        is_label = name in labels and len(np.unique(array)) == array.size > 1
        is_free = name in names and _is_free(function, point, at)
        if is_label or may_be_any or (is_free and _may_repeat(array, name in direct)):
            yield from _with_repeats(point, at, array)


def reordered(point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants in which rows that are each a permutation are another one.

    Those of the case may all be their own inverses by chance. Rows that are all the same, or in
    order, may have to be, and another tensor of that shape may be the inverse.
    """
    shapes = [array.shape for _, array in point.arrays() if array.dtype.kind in "iu"]
    for at, array in point.arrays():
        if array.dtype.kind not in "iu" or not array.ndim or shapes.count(array.shape) > 1:
            continue
        if not is_permutation_along(array, -1):
            continue
        rows = array.reshape(-1, array.shape[-1])
        is_alike = len(rows) > 1 and bool((rows == rows[0]).all())
        is_in_order = bool((np.diff(rows) > 0).all())
        if rows.shape[-1] < _LEAST_NOT_OWN_INVERSE or is_alike or is_in_order:
            continue
        change = f"rows of `{point.names[at]}` are in another order"
        for _ in range(_ORDERS):
            order = rng.permutation(rows.shape[-1]).astype(array.dtype)
            # No two rows agree anywhere, as the two ends of edges must not.
            made = np.stack([np.roll(order, number) for number in range(len(rows))])
            yield Variant(point.having({at: made.reshape(array.shape)}), change)


def matched(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants in which an index is one of those that forward compares it with.

    As a sampled class that is the label. In the case, all may be different.
    """
    for name, other in sorted(_compared(function)):
        at, by = (point.names.index(each) if each in point.names else -1 for each in (name, other))
        if not {at, by} <= {*point.tensors} or name == other:
            continue
        own, others = point.values[at], point.values[by]
        if own.dtype.kind in "iu" and others.dtype.kind in "iu" and not np.isin(own, others).any():
            made = own.copy()
            made.reshape(-1)[:1] = others.reshape(-1)[:1]
            change = f"an entry of `{name}` is one of `{other}`"
            yield Variant(point.having({at: made}), change)


def equal_keys(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants in which two numbers without a gradient are equal, where forward orders them.

    Tied times, for one, which a backward that sorts may take apart.
    """
    ordered = _compared_with_itself(function, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
    ordered |= _searched_for_itself(function)
    for at, array in point.continuous():
        flat = array.reshape(-1)
        is_key = point.names[at] in ordered and at not in point.tracked
        if is_key and len(np.unique(flat)) == flat.size > 1:
            tied = flat.copy()
            is_sorted = bool((np.diff(flat) > 0).all() or (np.diff(flat) < 0).all())
            tied[-1] = tied[-2] if is_sorted else tied[0]
            change = f"two entries of `{point.names[at]}` are equal"
            yield Variant(point.having({at: tied.reshape(array.shape)}), change)


def from_the_end(checkable: Checkable, point: Point) -> Iterator[Variant]:
    """Yield variants with indices counted from the end, if forward reads the same entries.

    Where the source marks an entry that is missing by -1, a negative index is no place.
    """
    read = set() if marks_by_minus_one(checkable.obj) else _only_read(checkable.obj)[0]
    extents = {extent for _, array in point.continuous() for extent in array.shape}
    for at, array in point.arrays():
        if array.dtype.kind != "i" or not array.size or point.names[at] not in read:
            continue
        if array.min() < 0 or is_permutation(array):
            continue
        for extent in sorted(each for each in extents if each > array.max()):
            turned = array.copy()
            turned.reshape(-1)[::2] -= extent
            variant = point.having({at: turned})
            if has_same_outputs(checkable, point, variant):
                yield Variant(variant, f"some entries of `{point.names[at]}` count from the end")
                break


def places_from_the_end(checkable: Checkable, point: Point) -> Iterator[Variant]:
    """Yield variants with a plain integer counted from the end, if forward gives the same.

    Not of a number that forward does not read, such as the length of the chunks of backward.
    """
    extents = sorted({extent for _, array in point.continuous() for extent in array.shape})
    for at in point.plain:
        place = point.values[at]
        if type(place) is not int or place < 0 or is_count(point.names[at]):
            continue
        if point.names[at].endswith("_size") or point.names[at] in ends_of_ranges(checkable.obj):
            continue
        for extent in (each for each in extents if each > place):
            turned = point.having({at: place - extent})
            beyond = point.having({at: 2 * extent + 1})  # Taken for it where forward reads none.
            if has_same_outputs(checkable, point, turned) and not has_same_outputs(
                checkable, point, beyond
            ):
                name = point.names[at]
                change = f"`{name}` is {place - extent}, which forward takes for {place}"
                yield Variant(turned, change, is_plain=True, may_raise=not is_axis(name))
                break


def at_the_end(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants in which the last place there is occurs among indices.

    Places are counted by an extent or by a plain integer, which may be larger, too.
    """
    written = index_uses(function).written
    extents = {extent for _, array in point.continuous() for extent in array.shape}
    numbers = {at: point.values[at] for at in point.plain if type(point.values[at]) is int}
    for at, array in point.arrays():
        name = point.names[at]
        is_index = array.dtype.kind == "i" and array.size > 1 and not is_offsets(array)
        if (
            not is_index
            or name in written
            or array.min() < 0
            or is_permutation_along_some_axis(array)
        ):
            continue
        for by, number in numbers.items():
            if number > array.max():
                longer = point.having({at: _with_place(array, number), by: number + 1})
                change = f"`{point.names[by]}` is {number + 1}, and `{name}` contains {number}"
                yield Variant(longer, change, may_raise=False)
        for extent in sorted(extents | {*numbers.values()}):
            if extent > array.max() + 1:
                made = point.having({at: _with_place(array, extent - 1)})
                yield Variant(made, f"`{name}` contains {extent - 1}")


def far_places(function: Any, longer: Iterable[Variant]) -> Iterator[Variant]:
    """Yield variants of indices that a byte cannot hold, of tensors that are long enough."""
    for variant in longer:
        if any(
            max(array.shape, default=0) > _LARGEST_IN_A_BYTE
            for _, array in variant.point.continuous()
        ):
            for made in at_the_end(function, variant.point):
                yield replace(made, change=f"{variant.change}, and {made.change}")


def in_narrow_integers(point: Point) -> Iterator[Variant]:
    """Yield variants of indices of one byte, among more places than a byte can count.

    How many there are along each axis is in plain integers, or in a tuple of them.
    """
    narrow = [at for at, array in point.arrays() if _is_narrow(array)]
    sizes = {at: _larger_sizes(point.values[at]) for at in point.plain if narrow}
    changed: dict[int, Any] = {at: size for at, size in sizes.items() if size is not None}
    if not changed:
        return
    changes = [f"`{point.names[at]}` is {size}" for at, size in changed.items()]
    for turn, at in enumerate(narrow, 1):  # The ends of an edge are no equal places.
        changed[at] = point.values[at].copy()
        changed[at].reshape(-1)[-1] = _PLACES - turn
        changes.append(f"`{point.names[at]}` contains {_PLACES - turn}")
    yield Variant(point.having(changed), ", and ".join(changes))


def _is_narrow(array: Array) -> bool:
    is_integer = array.dtype.kind in "iu" and array.dtype.itemsize == 1
    return is_integer and bool(array.size) and array.min() >= 0 and array.max() < _PLACES - 1


def _larger_sizes(value: Any) -> Any:
    """Sizes of a grid that has more places than a byte can count; None for anything else."""
    if type(value) is int and 1 < value < _PLACES:
        return _PLACES
    if type(value) in (tuple, list) and len(value) > 1 and all(map(_larger_sizes, value)):
        return type(value)(_PLACES + axis for axis, _ in enumerate(value))
    return None


def _with_place(array: Array, place: int) -> Array:
    """The indices with another one in the place of one that occurs again, if there is one."""
    values, counts = np.unique(array, return_counts=True)
    where = np.flatnonzero(array == values[np.argmax(counts)])[-1]
    made = array.copy()
    made.reshape(-1)[where] = place
    return made


def _with_repeats(point: Point, at: int, array: Array) -> Iterator[Variant]:
    """Variants whose last entry is the first one, and whose first ones are neighbors."""
    ends, beside = array.copy(), array.copy()
    is_sorted = bool((np.diff(array.reshape(-1)) > 0).all())
    ends.reshape(-1)[-1] = array.reshape(-1)[-2 if is_sorted else 0]
    beside.reshape(-1)[1:3] = array.reshape(-1)[0]
    for made in (ends, beside, *_alike_along(array)):
        if made.size > 2 or made is ends:
            yield Variant(point.having({at: made}), f"`{point.names[at]}` has a repeated entry")


def _alike_along(array: Array) -> Iterator[Array]:
    """The entries of a table with the last one along an axis like the first: the ends of edges."""
    for axis in range(array.ndim if array.ndim > 1 else 0):
        made = array.copy()
        last = tuple(-1 if each == axis else 0 for each in range(array.ndim))
        made[last] = array[(0,) * array.ndim]
        yield made


def without_last(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants whose largest index does not occur: not all places have to be read."""
    names, _ = _only_read(function)
    for at, array in point.arrays():
        if array.dtype.kind not in "iu" or point.names[at] not in names or not array.size:
            continue
        largest, least = array.max(), array.min()
        is_in_order = bool((np.diff(array.reshape(-1)) >= 0).all())
        is_ranking = array.ndim > 1 and is_permutation_along_some_axis(array)
        is_bound = is_in_order or is_ranking or not _is_free(function, point, at)
        if least < largest and not is_bound:
            made = np.where(array == largest, least, array).astype(array.dtype)
            change = f"`{point.names[at]}` has no {largest}"
            yield Variant(point.having({at: made}), change, may_raise=False)


def regrouped(function: Any, point: Point, *, may_be_empty: bool) -> Iterator[Variant]:
    """Yield variants in which a label or group that occurs no longer does, or only once.

    Groups whose members lie together are also mixed, unless the source speaks of order.
    """
    for at, array in point.arrays():
        if array.dtype.kind not in "iu":
            continue
        found = np.unique(array)
        if not 1 < len(found) < array.size or is_permutation_along_some_axis(array):
            continue
        is_flat = array.ndim == 1 and bool((np.diff(array) >= 0).all())
        if is_flat and array[0] == 0 and not wording(function).needs_order:
            change = f"`{point.names[at]}` is not sorted"
            yield Variant(point.having({at: _mixed(array)}), change)
        middle, instead = found[len(found) // 2], found[len(found) // 2 - 1]
        places = np.flatnonzero(array == middle)
        gone, alone = array.copy(), array.copy()
        gone.reshape(-1)[places] = instead
        alone.reshape(-1)[places[:-1]] = instead
        if may_be_empty:
            yield Variant(point.having({at: gone}), f"`{point.names[at]}` has no {middle}")
        if len(places) > 1:
            yield Variant(
                point.having({at: alone}), f"`{point.names[at]}` contains {middle} only once"
            )


def _mixed(array: Array) -> Array:
    """The entries in another order, in which members of a group do not lie together if possible."""
    swapped = array.copy()
    swapped[[0, -1]] = array[[-1, 0]]
    orders = (swapped, np.concatenate([array[::2], array[1::2]]), np.roll(array, 1))
    return max(orders, key=lambda order: int((np.diff(order) != 0).sum()))


def crowded(point: Point, longer: Iterable[Variant]) -> Iterator[Variant]:
    """Yield variants with more members of one group than a byte can count.

    Args:
        point: The arguments of the case.
        longer: Variants of it, of which some have more than that many entries.
    """
    for variant in longer:
        for at, array in variant.point.arrays():
            found, counts = np.unique(point.values[at], return_counts=True)
            is_group = array.dtype.kind in "iu" and counts.max(initial=0) > 1
            if is_group and array.size > _LARGEST_IN_A_BYTE:
                made = _kept_apart(variant.point, at, found[np.argmax(counts)], point)
                change = f"{variant.change}, and all entries of `{point.names[at]}` are equal"
                yield replace(variant, point=variant.point.having(made), change=change)


def _kept_apart(longer: Point, at: int, chosen: np.integer[Any], case: Point) -> dict[int, Array]:
    """The index with one entry everywhere; another of its shape differs from it as in the case."""
    made = {at: np.full_like(longer.values[at], chosen)}
    for other, array in longer.arrays():
        pair = case.values[at], case.values[other]
        if other == at or array.dtype.kind not in "iu" or pair[0].shape != pair[1].shape:
            continue
        free = array[array != chosen]
        if free.size and not (pair[0] == pair[1]).any():
            made[other] = np.where(array == chosen, free[0], array)
    return made


def segments(point: Point, *, may_be_empty: bool) -> Iterator[Variant]:
    """Yield variants in which the first segment, of ids or between offsets, has one element.

    Offsets of a single segment get another one between them. Of several segments one may be empty.
    """
    for at, array in point.arrays():
        if array.shape == (2,) and is_offsets(array):
            split = np.insert(array, 1, array[1] // 2 - (array[1] > 3))
            change = f"`{point.names[at]}` has one more entry"
            yield Variant(point.having({at: split.astype(array.dtype)}), change)
        if array.dtype.kind in "iu" and array.ndim == 1 and array.size > 2:
            changed = _with_short_segment(array)
            if changed is not None and not np.array_equal(changed, array):
                change = f"the first segment of `{point.names[at]}` has one element"
                yield Variant(point.having({at: changed}), change)
            if may_be_empty and is_offsets(array):
                emptied = array.copy()
                emptied[array.size // 2] = array[array.size // 2 - 1]
                change = f"`{point.names[at]}` has an empty segment"
                yield Variant(point.having({at: emptied}), change)


def unsorted(point: Point, names: Collection[str], rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants of sorted numbers in another order, where forward sorts them itself."""
    for at, array in point.continuous():
        is_sorted = any(each.name in ("sorted", "descending") for each in traits(array))
        if point.names[at] in names and is_sorted:
            made = rng.permuted(array, axis=-1)
            yield Variant(point.having({at: made}), f"`{point.names[at]}` is not sorted")


def ignored(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants in which some labels are a number that stands for none.

    A docstring says so, or forward compares the labels with it.

    Either the labels change or, as backward may know the number of the case by heart, the number.
    """
    for none in sorted(ignored_labels(wording(function).docstrings)):
        for at, array in point.arrays():
            if array.dtype.kind == "i" and array.size > 1 and none not in array:
                marked = array.copy()
                marked.reshape(-1)[::3] = none
                change = f"some entries of `{point.names[at]}` are {none}"
                yield Variant(point.having({at: marked}), change)
    for label, mark in sorted(_compared(function)):
        at, by = (point.names.index(each) if each in point.names else -1 for each in (label, mark))
        if at not in point.tensors or by not in point.plain or point.values[at].dtype.kind != "i":
            continue
        labels, number = point.values[at], point.values[by]
        if type(number) is not int:
            continue
        changed = labels.copy()
        changed.reshape(-1)[::3] = number
        yield Variant(
            point.having({at: changed}), f"some entries of `{label}` are `{mark}`, {number}"
        )
        others = labels[labels != number].tolist()
        # Zero is false, and easily taken for none.
        for other in dict.fromkeys([*others[:1], *(0 for each in others if each == 0)]):
            # What the case ignores has to be ignored still: it may be no index.
            moved = np.where(labels == number, other, labels).astype(labels.dtype)
            change = f"`{mark}` is {other}, as some entries of `{label}` are"
            yield Variant(point.having({at: moved, by: other}), change)


def _compared(function: Any) -> set[tuple[str, str]]:
    """Pairs of names that forward compares for equality."""
    return {
        pair
        for node in forward_nodes(function)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq)
        for one, other in [(viewed(node.left), viewed(node.comparators[0]))]
        if one and other
        for pair in ((one, other), (other, one))
    }


def _compared_with_itself(
    function: Any, by: tuple[type[ast.cmpop], ...] = (ast.Eq, ast.NotEq)
) -> set[str]:
    """Names of which forward compares entries, or copies of them, with each other."""
    parts = forward_nodes(function)
    compared = {
        name
        for node in parts
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], by)
        for name in names_in(node.left) & names_in(node.comparators[0])
    }
    copied = {
        node.value.id
        for node in parts
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
        if any(names_in(target) & compared for target in node.targets)
    }
    whole = wholes(function)
    return compared | copied | {whole[name] for name in compared & whole.keys()}


def _searched_for_itself(function: Any) -> set[str]:
    """Names of sorted numbers of which forward looks up the places of all that are equal."""
    return {
        name
        for node in forward_nodes(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr == "searchsorted" and len(node.args) > 1
        for name in names_in(node.args[0]) & names_in(node.args[1])
    }


def _with_short_segment(array: Array) -> Array | None:
    steps = np.diff(array)
    changed = array.copy()
    if array[0] == 0 and (steps > 0).all():  # Offsets.
        changed[1] = 1
        return changed
    if (steps >= 0).all() and (steps == 0).any() and (steps > 0).any():  # Ids.
        second = int(np.argmax(steps > 0)) + 1
        changed[1:second] = array[second]
        return changed
    return None


def _may_repeat(array: Array, is_index: bool) -> bool:
    """Return True for distinct indices, which are no offsets if they are sorted."""
    flat = array.reshape(-1)
    is_distinct = flat.size > 1 and len(np.unique(flat)) == flat.size
    is_sorted = bool((np.diff(flat) > 0).all())
    return is_distinct and (is_index or not is_sorted)


def _is_free(function: Any, point: Point, at: int) -> bool:
    """Return True for indices that need not be a permutation."""
    if not is_permutation(point.values[at]) or _is_paired(point, at):
        return True
    return not (wording(function).speaks_of_order or any(map(is_order, point.names)))


def _is_paired(point: Point, at: int) -> bool:
    """Return True for indices beside others of their shape that repeat, as rows and columns do.

    What looks like a permutation there is one by chance.
    """
    own = point.values[at]
    return any(
        other != at and array.shape == own.shape and len(np.unique(array)) < array.size
        for other, array in point.arrays()
        if array.dtype.kind in "iu"
    )


def _only_read(function: Any) -> tuple[frozenset[str], frozenset[str]]:
    """The arguments by which forward reads entries of a tensor, but writes none.

    The second set are those that are an index by themselves.
    """
    uses, nothing = index_uses(function), frozenset[str]()
    if sorts(function):
        return nothing, nothing
    return uses.read - uses.written, uses.direct - uses.written
