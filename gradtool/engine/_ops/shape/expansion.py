"""Broadcasting: dimensions stretched without a copy, and the sum that is its transpose."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints, as_ints, one_by_one
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._tensor import Size, Tensor


def _stretched(x: Any, *, shape: Ints) -> Any:
    if x.shape == shape:
        return x[...]
    if x.__class__ is np.ndarray and x.size and x.flags.c_contiguous:
        kept = [0 if each == 1 else step for each, step in zip(x.shape, x.strides, strict=True)]
        strides = [0] * (len(shape) - x.ndim) + kept
        return np.ndarray(shape, x.dtype, x, 0, strides)  # in a fraction of broadcast_to's time
    view = np.broadcast_to(x, shape)
    if isinstance(view, np.ndarray) and x.flags.writeable:
        view.flags.writeable = True  # a slice of it is as good to write to as one of `x`
    return view


_expand = linear(
    "expand",
    _stretched,
    lambda g, x_shape: g.sum_to_size(x_shape),
    is_view=True,
)


def _summed_to(x: Any, *, shape: Ints) -> Any:
    leading = x.ndim - len(shape)
    axes = tuple(
        axis for axis in range(x.ndim) if axis < leading or shape[axis - leading] != x.shape[axis]
    )
    dtype = np.int64 if x.dtype.kind in "iub" else x.dtype
    return x.sum(axis=axes, dtype=dtype, keepdims=True).reshape(shape)


_sum_to_size = linear("sum_to_size", _summed_to, lambda g, x_shape: g.expand(x_shape))


@one_by_one
def expand(x: Tensor, size: Ints, *, implicit: bool = False) -> Tensor:
    """Dimensions of extent one stretched without a copy; -1 keeps an extent."""
    return _expand(x, shape=_expanded_shape(x, size))


def _expanded_shape(x: Tensor, size: Ints) -> Ints:
    shape = x._array.shape
    new = len(size) - len(shape)
    if new < 0:
        raise RuntimeError(
            f"expand({x.type()}{{{list(shape)}}}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    for position, extent in reversed([*enumerate(size)]):
        if position < new and extent < 0:
            raise RuntimeError(
                f"The expanded size of the tensor ({extent}) isn't allowed in a leading, "
                f"non-existing dimension {position}"
            )
        if position >= new and extent != -1 and shape[position - new] not in (1, extent):
            raise RuntimeError(
                f"The expanded size of the tensor ({extent}) must match the existing size "
                f"({shape[position - new]}) at non-singleton dimension {position}.  "
                f"Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
            )
    return tuple(
        [
            shape[position - new] if extent == -1 and position >= new else extent
            for position, extent in enumerate(size)
        ]
    )


def expand_as(x: Tensor, other: Tensor) -> Tensor:
    """``x.expand(other.shape)``."""
    return expand(x, other.shape)


@one_by_one
def broadcast_to(x: Tensor, size: Ints) -> Tensor:
    """The same as `expand`."""
    return expand(x, size)


def broadcast_shapes(*shapes: int | Ints) -> Ints:
    """The shape that these broadcast to, as a `Size`.

    Raises:
        RuntimeError: they do not broadcast.
    """
    result: list[int] = []
    for shape in map(as_ints, shapes):
        result = [1] * (len(shape) - len(result)) + result
        for back in range(-1, -len(shape) - 1, -1):
            if 1 not in (shape[back], result[back]) and shape[back] != result[back]:
                raise RuntimeError(
                    f"The size of tensor a ({result[back]}) must match the size of tensor b "
                    f"({shape[back]}) at non-singleton dimension {len(result) + back}"
                )
            result[back] = shape[back] if result[back] == 1 else result[back]
    return Size(result)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of the tensors in the shape that they broadcast to."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    shape = broadcast_shapes(*[each.shape for each in given])
    return tuple([_expand(each, shape=tuple(shape)) for each in given])


@one_by_one
def sum_to_size(x: Tensor, size: Ints) -> Tensor:
    """Summed over the dimensions that broadcasting from `size` would have added or stretched."""
    shape = x._array.shape
    if size == shape and shape:
        return x
    new = len(shape) - len(size)
    if new < 0 or any(size[at] not in (1, shape[at + new]) for at in range(len(size))):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    return _sum_to_size(x if x.dtype.is_differentiable else x.to(_dtypes.int64), shape=size)


__all__ = [
    "broadcast_shapes", "broadcast_tensors", "broadcast_to", "expand", "expand_as", "sum_to_size",
]  # fmt: skip
