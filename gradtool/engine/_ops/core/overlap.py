"""Refusal to write over memory that another operand reads from, or that an element shares.

These are torch's rules: where a tensor has gaps or an order of its own there is no telling which
of its elements meet those of another, and nothing is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.engine._lazy import memory
from gradtool.engine._ops.core.batching import padded
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._tensor import Tensor, data_pointer, is_dense

REPEATING = frozenset((
    "index_fill_", "index_put_", "masked_fill_", "threshold_", "tril_", "triu_",
))  # fmt: skip
"""What may be written to a tensor whose elements share memory."""

APART = frozenset((
    "index_add_", "index_copy_", "index_put_", "index_reduce_", "put_", "scatter_",
    "scatter_add_", "scatter_reduce_",
))  # fmt: skip
"""What reads from no memory that it writes to, be it exactly the same."""

PARTIAL = REPEATING | APART | {"masked_scatter_"}
"""What is written to some elements only."""

APART_FROM_OUT = frozenset((
    "cat", "gather", "index_select", "masked_select", "max", "min", "sort", "stack", "take",
))  # fmt: skip
"""What writes to an ``out=`` that shares no memory with what it reads."""

UNCHECKED = frozenset((
    "addbmm_", "addmm_", "addmv_", "addr_", "baddbmm_", "masked_scatter_",
))  # fmt: skip
"""What computes from a copy wherever memory is shared."""


def has_repeats(array: Any) -> bool:
    """Return True where elements of an array are known to share memory: it was expanded."""
    return (
        0 in array.strides
        and array.size > 0
        and any(step == 0 and extent > 1 for step, extent in zip(array.strides, array.shape))
    )


def repeats(x: Tensor) -> bool:
    """Return True where elements of a tensor are known to share memory.

    What no other tensor shares was computed as if it had memory of its own, and now gets it.
    """
    if not has_repeats(memory(x)):
        return False
    if x._storage is not None:
        return True
    x._array = x._array.copy()
    return False


def overlaps(size: Ints, stride: Ints) -> bool:
    """Return True where two positions may lie at one place."""
    reach = 0
    for step, extent in sorted(zip(stride, size, strict=True)):
        if extent > 1:
            if step <= reach:
                return True
            reach += (extent - 1) * step
    return False


def shares_places(x: Tensor) -> bool:
    """Return True for a view of which elements may share memory, like windows that overlap."""
    if x._level is None and (x._view is None or memory(x).flags.c_contiguous):
        return False
    return 0 not in x.shape and overlaps(x.shape, x.stride())


def last_of_each_place(x: Tensor) -> Any:
    """Mark, among the elements that share memory, the one that a copy writes last."""
    places: Any = np.zeros((), np.int64)
    for step, extent in zip(x.stride(), x.shape):
        places = places[..., None] + step * np.arange(extent)
    order = sorted(range(x.ndim), key=lambda dim: -x.stride(dim))
    last = np.zeros([x.shape[dim] for dim in order], bool)
    backwards = places.transpose(order).reshape(-1)[::-1]
    last.reshape(-1)[last.size - 1 - np.unique(backwards, return_index=True)[1]] = True
    return last.transpose(np.argsort(order))


def check_distinct_elements(x: Tensor, part: Any = None) -> None:
    """Refuse to write to an expanded tensor, or a part of one, whose elements share memory."""
    if repeats(x) and (part is None or has_repeats(part)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def check_overlap(target: Tensor, source: Any, *, is_copied: bool = False) -> None:
    """Refuse a source that has some of the target's memory, but not exactly all of it.

    An operation computes the conjugates and negatives that a view stands for first, and then they
    share no memory; a copy reads them from memory.

    Raises:
        RuntimeError: the memory of the two overlaps in part.
    """
    if (
        source is not target
        and _overlap(target, source, memory if is_copied else _elements) == "part"
    ):
        raise _shared()


def check_overlap_of_examples(level: Any, target: Any, name: str, sources: Sequence[Any]) -> None:
    """`check_overlap` for all examples at once, as torch lines them up: in as many dimensions.

    Raises:
        RuntimeError: the memory of the target and of a source overlaps in part.
    """
    if name in APART or name in UNCHECKED:
        return
    for source in sources:
        if isinstance(source, Tensor) and level.below(source)._level is None:
            rank = max(target.ndim, source.ndim)
            other = padded(level.below(source), rank) if level.owns(source) else source
            check_overlap(padded(level.below(target), rank), other)


def check_apart(target: Tensor, source: Any) -> None:
    """Refuse a source that has any of the target's memory, or is the target.

    Raises:
        RuntimeError: the memory of the two overlaps.
    """
    if source is target or _overlap(target, source) is not None:
        raise _shared()


def _elements(x: Tensor) -> Any:
    return x._array


def _overlap(
    target: Tensor, source: Any, array_of: Callable[[Tensor], Any] = _elements
) -> str | None:
    """Memory that two tensors are known to have in common: a ``part``, ``all`` or none."""
    if not (
        isinstance(source, Tensor)
        and target._storage is not None
        and (source._storage is target._storage or _owner(source) is _owner(target))
    ):
        return None
    one, other = array_of(target), array_of(source)
    if not (one.size and other.size and is_dense(one) and is_dense(other)):
        return None
    first, start = data_pointer(one), data_pointer(other)
    if first == start and one.nbytes == other.nbytes:
        return "all" if one.ndim == other.ndim and _have_same_steps(one, other) else "part"
    return "part" if first < start + other.nbytes and start < first + one.nbytes else None


def _owner(x: Tensor) -> Any:
    """The array whose memory a tensor shows: what `unsafe_chunk` returns counts by itself."""
    owner = array = x._array
    while isinstance(array, np.ndarray):  # not at a level
        owner, array = array, array.base
    return owner


def _have_same_steps(one: Any, other: Any) -> bool:
    """Compare strides, but for those of zero at extents of one: torch has others there."""
    pairs = zip(one.strides, other.strides, one.shape, other.shape)
    return all(
        step == other_step or (extent == other_extent == 1 and 0 in (step, other_step))
        for step, other_step, extent, other_extent in pairs
    )


def _shared() -> RuntimeError:
    return RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor "
        "refer to a single memory location. Please clone() the tensor before performing the "
        "operation."
    )
