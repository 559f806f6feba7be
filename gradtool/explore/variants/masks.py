"""Variants of masks and lengths: a mask that leaves something out, or all of a row.

A sample whose mask keeps everything, or whose sequences are all as long as the tensor, says nothing
of what backward does with the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

import numpy as np

from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.names import is_mask
from gradtool.explore.traits import is_binary
from gradtool.verify.protocol.observation import Array


def masks(
    point: Point,
    is_called_mask: Callable[[str], bool],
    dtypes: Callable[[str], Iterable[str]],
    *,
    may_be_empty: bool,
) -> Iterator[Variant]:
    """Yield variants of masks of other dtypes and entries, and of lengths that fill no axis.

    Args:
        point: The arguments of the case.
        is_called_mask: Tells an argument that a docstring calls a mask.
        dtypes: Gives those that an argument may have if it is a mask.
        may_be_empty: A mask may leave out all of a row.
    """
    for at, array in point.arrays():
        name = point.names[at]
        if at in point.tracked or array.size < 2 or not array.ndim:
            continue
        if _is_mask(array, is_mask(name) or is_called_mask(name)):
            for dtype in dtypes(name):
                if dtype != array.dtype:
                    yield Variant(point.having({at: array.astype(dtype)}), f"`{name}` is {dtype}")
            for made, how in _other_masks(array, may_be_empty=may_be_empty):
                change = f"`{name}` is {how}"
                yield Variant(point.having({at: made.astype(array.dtype)}), change)
        elif may_be_empty:
            for made, value in _other_labels(array):
                yield Variant(point.having({at: made}), f"all entries of `{name}` are {value}")
    for at, array in point.arrays():
        if _are_lengths(array, point):
            shorter = np.maximum(array - np.arange(array.size).reshape(array.shape) % 3 - 1, 1)
            if not np.array_equal(shorter, array):
                change = f"the lengths in `{point.names[at]}` are smaller"
                yield Variant(point.having({at: shorter.astype(array.dtype)}), change)


def missing(point: Point, tested: Collection[str]) -> Iterator[Variant]:
    """Yield variants in which some numbers of a constant are NaN, of which forward takes care.

    Args:
        point: The arguments of the case.
        tested: Names of what forward tests for NaN.
    """
    for at, array in point.continuous():
        if at in point.tracked or point.names[at] not in tested or array.size < 2:
            continue
        holed = array.copy()
        holed.reshape(-1)[1::3] = np.nan
        change = f"some entries of `{point.names[at]}` are NaN"
        yield Variant(point.having({at: holed}), change, only_finite=True)


def padded(point: Point) -> Iterator[Variant]:
    """Yield variants in which what a mask leaves out is stored as zeros.

    A derivative is measured there: that of a root times zero has no number.
    """
    masked = [array for at, array in point.arrays() if array.dtype.kind == "b" and array.ndim]
    for mask in masked:
        zeros = {
            at: np.where(mask.reshape(mask.shape + (1,) * (array.ndim - mask.ndim)), array, 0)
            for at, array in point.arrays()
            if at in point.tracked or array.dtype.kind == "i"
            if array.shape[: mask.ndim] == mask.shape
        }
        if zeros and not mask.all():
            names = " and ".join(f"`{point.names[at]}`" for at in zeros)
            change = f"{names} {'is' if len(zeros) == 1 else 'are'} zero where the mask is false"
            yield Variant(point.having(zeros), change, is_measured=True)


def forbidden(point: Point) -> Iterator[Variant]:
    """Yield variants in which constants with some entry of -inf have a slice of them.

    A state that no other leads to has no probability, and no difference of logarithms either. A
    derivative is measured there: that of the logarithm of such a sum has no number.
    """
    for at, array in point.continuous():
        if at in point.tracked or array.dtype.kind != "f" or not np.isneginf(array).any():
            continue
        place = np.unravel_index(np.argmax(np.isneginf(array)), array.shape)
        for axis, index in enumerate(place[::-1]):
            made = array.copy()
            np.moveaxis(made, array.ndim - 1 - axis, 0)[index] = -np.inf
            change = f"`{point.names[at]}` is -inf all along an axis"
            yield Variant(point.having({at: made}), change, is_measured=True)


def _is_mask(array: Array, has_name: bool) -> bool:
    if array.dtype.kind == "b":
        return True
    return array.dtype.kind in "fiu" and is_binary(array) and has_name


def _other_labels(array: Array) -> Iterator[tuple[Array, int]]:
    """Labels of one class only, where those of a case are of both; not where each is one-hot."""
    if array.dtype.kind != "f" or not is_binary(array):
        return
    classes = {1, array.ndim - 1} if array.ndim > 1 else {0}
    if any((array.sum(axis) == 1).all() for axis in classes):
        return
    for value in (0, 1):
        if not (array == value).all():
            yield np.full_like(array, value), value


def _other_masks(array: Array, *, may_be_empty: bool) -> Iterator[tuple[Array, str]]:
    places = np.arange(array.size).reshape(array.shape)
    if array.all():
        yield _padded(array.shape), "true up to a length in each row"
        yield places % 3 != 1, "partly true"
    elif not array.any():
        yield places % 3 == 1, "partly true"
    if array.ndim > 1 and array.shape[0] > 1 and may_be_empty:
        for value, word in ((0, "false"), (1, "true")):
            row = array.copy()
            row[0] = value
            if not np.array_equal(row, array):
                yield row, f"{word} in a whole row"


def _padded(shape: tuple[int, ...]) -> Array:
    """A mask of sequences along the last axis: the first is shorter by one, the next by two."""
    longest = shape[-1]
    rows = np.arange(int(np.prod(shape[:-1]))).reshape((*shape[:-1], 1))
    lengths = np.maximum(longest - 1 - rows % max(longest - 1, 1), 1)
    return np.asarray(np.arange(longest) < lengths)


def _are_lengths(array: Array, point: Point) -> bool:
    """Return True for integers that all equal one extent of another tensor."""
    if array.dtype.kind not in "iu" or array.ndim != 1 or not array.size:
        return False
    extents = {n for _, other in point.continuous() for n in other.shape if n > 1}
    return bool((array == array[0]).all()) and int(array[0]) in extents
