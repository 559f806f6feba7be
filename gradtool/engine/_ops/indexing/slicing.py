"""Slices picked, written, added and repeated; strided views."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.device import add_at
from gradtool.engine import _dtypes
from gradtool.engine._lazy import memory
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dims import Ints, wrap_dim
from gradtool.engine._ops.core.dtype_support import (
    check_positions,
)
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.node_names import saving
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.indexing.batch_rules import (
    index_select_rule,
    take_rule,
    write_slices_rule,
)
from gradtool.engine._ops.indexing.indexing import added_to_zeros, check_bounds
from gradtool.engine._ops.shape.expansion import contiguous_copy
from gradtool.engine._ops.shape.memory import memory_of
from gradtool.engine._ops.shape.shape import reshape
from gradtool.engine._tensor import Tensor, to_numpy

if TYPE_CHECKING:
    pass

# ---- slices by their positions along a dimension ---------------------------------------------


def _selected(x: Any, index: Any, *, dim: int) -> Any:
    try:
        check_bounds(index, x.shape[dim], dim, lowest=0)
    except IndexError:
        raise IndexError("index out of range in self") from None
    return np.take(x, index, axis=dim)


_index_select = linear(
    "index_select",
    _selected,
    lambda g, x_shape, index, dim: added_to_zeros(g, x_shape, (dim,), [index]),
    batch=index_select_rule,
)


def _key(index: Any, shape: Ints, dim: int, error: type[Exception]) -> tuple[Any, ...]:
    check_bounds(index, shape[dim], dim, error=error, lowest=0)
    return (*[slice(None)] * dim, index)


def _slices_added(x: Any, source: Any, index: Any, *, dim: int) -> Any:
    out = x.copy()
    if x.ndim > 1:
        add_at(out, _key(index, x.shape, dim, RuntimeError), source)
        return out
    try:
        add_at(out, _key(index, x.shape, dim, IndexError), source)
    except IndexError:
        raise IndexError("index out of range in self") from None
    return out


def _slices_copied(x: Any, source: Any, index: Any, *, dim: int) -> Any:
    out = x.copy()
    out[_key(index, x.shape, dim, IndexError)] = source
    return out


_index_add = Primitive(
    "index_add",
    _slices_added,
    (vjp_of(lambda g: g), vjp_of(lambda g, index, dim, _source: g.index_select(dim, index))),
    kind="linear",
    batch=write_slices_rule,
)
_index_copy = Primitive(
    "index_copy",
    _slices_copied,
    (
        vjp_of(
            lambda g, index, dim, source_shape: g.index_copy(dim, index, g.new_zeros(source_shape))
        ),
        vjp_of(lambda g, index, dim, _source: g.index_select(dim, index)),
    ),
    kind="linear",
    batch=write_slices_rule,
)


def _taken(x: Any, index: Any) -> Any:
    beyond = index[(index >= x.size) | (index < -x.size)]
    if beyond.size:
        raise IndexError(
            f"out of range: tried to access index {int(beyond[0])} on a tensor of {x.size} "
            "elements."
        )
    return x.reshape(-1)[index]


_take = linear(
    "take",
    _taken,
    lambda g, x_shape, index: added_to_zeros(g, (prod(x_shape),), (0,), [index]).reshape(x_shape),
    batch=take_rule,
).keeping("x")


@op(method=True, node="IndexSelectBackward0")
@of_own_memory
def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices at positions along a dimension.

    Raises:
        IndexError: a position is out of range, or `index` has more than one dimension.
        RuntimeError: the positions are neither int64 nor int32.
    """
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    check_positions(index, "index_select(): Expected dtype int32 or int64 for index", narrow=True)
    ndim = x._array.ndim
    dim = wrap_dim(dim, ndim)
    if ndim == 0:
        return reshape(_index_select(x.reshape(1), index.reshape(1), dim=0), ())
    if ndim > 1 and x._array.size == 0:
        _check_selects(index._array, x.shape[dim])
    return _index_select(x, index if index.ndim else index.reshape(1), dim=dim)


def _check_selects(index: Any, extent: int) -> None:
    """Refuse positions along a dimension of a tensor without elements."""
    if index.size and extent == 0:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    wrong = index[(index < 0) | (index >= extent)]
    if wrong.size:
        raise RuntimeError(
            f"INDICES element is out of DATA bounds, id={int(wrong[0])} axis_dim={extent}"
        )


@op(in_place=True, node=saving("IndexAddBackward0", source="source"))
@of_own_memory
def index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy with slices of `source`, times `alpha`, added at positions along a dimension.

    Raises:
        RuntimeError: a position is out of range, or the source has another dtype or shape.
    """
    if source.dtype is not x.dtype:
        raise RuntimeError(
            f"index_add_(): self ({x.dtype}) and source ({source.dtype}) must have the same scalar "
            "type"
        )
    words = "index_add_(): Expected dtype int32/int64 for index but got: {}"
    check_positions(index, words, narrow=True)
    scaled = source if alpha == 1 else source * alpha
    return _slices_written(x, dim, index, scaled, _index_add)


@op(in_place=True, node="IndexCopyBackward0")
def index_copy(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy with slices of `source` written at positions along a dimension.

    Raises:
        IndexError: a position is out of range, or there are not as many slices.
        RuntimeError: the source has another dtype.
    """
    if source.dtype is not x.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{x.dtype} and (source) {source.dtype}"
        )
    check_positions(index, "index_copy_(): Expected a long tensor for index, but got {}")
    return _slices_written(x, dim, index, source, _index_copy)


def _slices_written(
    x: Tensor, dim: int, index: Tensor, source: Tensor, primitive: Primitive
) -> Tensor:
    dim = wrap_dim(dim, x.ndim)
    if x.ndim == 0:
        vector, values = x.reshape(1), source.reshape(1)
        return reshape(_slices_written(vector, 0, index, values, primitive), ())
    positions = index if index.ndim else index.reshape(1)
    extents = source.shape if source.ndim else (1,)
    if len(extents) == x.ndim and extents[dim] != len(positions):
        error = RuntimeError if primitive is _index_add and source.ndim else IndexError
        raise error(
            f"{primitive.name}_(): Number of indices ({len(positions)}) should be equal to "
            f"source.size(dim): ({extents[dim]}), for dim: {dim}"
        )
    if primitive is _index_copy and source.ndim and source.ndim != x.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({source.ndim}), destination dimensionality ({x.ndim})"
        )
    _check_slices(x.shape, dim, source.shape, primitive.name)
    if primitive is _index_add:
        nothing = x.ndim > 1 and x.numel() == 0
    else:
        nothing = takes_no_slice(x, dim, positions)
    return untouched(x, source) if nothing else primitive(x, source, positions, dim=dim)


def untouched(x: Tensor, source: Any) -> Tensor:
    """A copy of a tensor without elements; in the graph what was written nowhere belongs to it."""
    copied: Tensor = x.clone()
    if not (isinstance(source, Tensor) and source._requires_grad and modes.grad):
        return copied
    joined: Tensor = copied + (source.sum() * 0).to(x.dtype)
    return joined


def takes_no_slice(x: Tensor, dim: int, index: Tensor) -> bool:
    """Return True where slices at positions have no elements, and the positions do not matter.

    Raises:
        RuntimeError: they would have, but `x` has none, which torch finds as it lays one out.
    """
    if x.numel() or x.ndim == 0:
        return False
    size, steps = list(x.shape), list(x.stride())
    size[dim], steps[dim] = 1, 0
    if 0 in size or not index.numel():
        return True
    reach = sum((extent - 1) * step for extent, step in zip(size, steps, strict=True)) + 1
    itemsize, start = x.element_size(), x.storage_offset()
    held = memory_of(memory(x)).size
    if start + reach <= held:  # It does not matter that they are none of its own.
        return False
    raise RuntimeError(
        f"setStorage: sizes {size}, strides {steps}, storage offset {start}, and itemsize "
        f"{itemsize} requiring a storage size of {(start + reach) * itemsize} are out of bounds "
        f"for storage of size {held * itemsize}"
    )


def _check_slices(shape: Ints, dim: int, source_shape: Ints, name: str) -> None:
    around = [each[:dim] + each[dim + 1 :] for each in (shape, source_shape)]
    if source_shape and around[0] != around[1]:
        raise RuntimeError(
            f"{name}_(): Source/destination tensor must have same slice shapes. Destination slice "
            f"shape: {list(around[0])} at dimension {dim} and source slice shape: "
            f"{list(around[1])} at dimension {dim}."
        )


@op(method=True)
def take(x: Tensor, index: Tensor) -> Tensor:
    """Elements by their position in row-major order, in the shape of `index`.

    Raises:
        IndexError: a position is out of range.
        RuntimeError: the positions are no int64.
    """
    check_positions(index, "take(): Expected a long tensor for index, but got {}")
    return _take(x, index)


@op(method=True)
def repeat_interleave(
    x: Tensor,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Each element along a dimension so many times in a row.

    Given one tensor of counts alone: the positions 0, 1, … each so many times.
    """
    if repeats is None:
        positions = x.new_tensor(range(len(x)))
        return repeat_interleave(positions, x, 0)
    if dim is None:
        x, dim = x.flatten(), 0
    dim = wrap_dim(dim, x.ndim)
    if isinstance(repeats, int):
        return _each_repeated(x, repeats, dim)
    extent = x.shape[dim]
    counts = to_numpy(repeats._array) if isinstance(repeats, Tensor) else np.asarray(repeats)
    _require_counts(counts, dim, extent)
    repeated = np.repeat(np.arange(extent), np.broadcast_to(counts, (extent,)))
    return index_select(x, dim, x.new_tensor(repeated, dtype=_dtypes.int64))


def _require_counts(counts: Any, dim: int, extent: int) -> None:
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if counts.ndim == 1 and counts.size not in (1, extent):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size({dim}) = {extent}"
        )
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")


def _each_repeated(x: Tensor, repeats: int, dim: int) -> Tensor:
    """Return a view of the copies, as in torch: in the graph, they are expanded."""
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    extents = (*x.shape[: dim + 1], repeats, *x.shape[dim + 1 :])
    copies = contiguous_copy(x.unsqueeze(dim + 1).expand(extents))
    repeated: Tensor = copies.flatten(dim, dim + 1)
    return repeated
