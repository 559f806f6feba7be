"""Elements overwritten: fills, and copies with a part replaced."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine._levels import Outline
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.dtype_support import check_positions, refuse_complex_gradient
from gradtool.engine._ops.core.node_names import numbered, saving
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.core.scalars import scalar_for
from gradtool.engine._ops.elementwise.selection import masked_fill, where
from gradtool.engine._ops.indexing.copying import check_filling
from gradtool.engine._ops.indexing.indexing import check_bounds, index_put
from gradtool.engine._ops.indexing.slicing import takes_no_slice, untouched
from gradtool.engine._ops.indexing.views import narrow
from gradtool.engine._ops.shape.diagonals import _embed, diagonal
from gradtool.engine._ops.shape.expansion import broadcast_shapes
from gradtool.engine._tensor import Tensor

# ---- fills -----------------------------------------------------------------------------------


@op(node=lambda _x, value: f"FillBackward{int(isinstance(value, Tensor))}")
def fill(x: Tensor, value: Any) -> Tensor:
    """A copy in which every element is `value`, a number or a 0-d tensor."""
    check_filling(value)
    return masked_fill(x, x.new_ones((), dtype=bool), scalar_for(x, value))


@method()
def fill_diagonal_(x: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the main diagonal to a number; with `wrap` a tall matrix has another below a gap row.

    Raises:
        RuntimeError: there are less than 2 dimensions, or more than 2 of different extents.
    """
    if x.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    extent, step, offset = min(x.shape[:2]), (sum(x.stride()),), x.storage_offset()
    x.as_strided((extent,), step, offset).fill_(fill_value)
    rows, columns = x.shape[:2]
    if wrap and x.ndim == 2 and rows > columns + 1:
        count = -(-x.numel() // (columns + 1)) - extent
        below = offset + x.stride(0) * (columns + 1)
        x.as_strided((count,), step, below).fill_(fill_value)
    return x


# ---- copies with a view replaced -------------------------------------------------------------


@op(method=True, node="SelectScatterBackward0")
def select_scatter(x: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy in which `src` is the slice at a position along a dimension."""
    _check_fits(x.select(dim, index), src)
    refuse_complex_gradient("select_scatter", x, src)
    key = (*[slice(None)] * wrap_dim(dim, x.ndim), int(index))
    return index_put(x, key, src.to(x.dtype))


@op(method=True, node="SliceScatterBackward0")
def slice_scatter(
    x: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """A copy in which `src` is every `step`-th slice from `start` to `end` along a dimension."""
    key = (*[slice(None)] * wrap_dim(dim, x.ndim), slice(start, end, step))
    _check_fits(x[key], src)
    refuse_complex_gradient("slice_scatter", x, src)
    return index_put(x, key, src.to(x.dtype))


@op(method=True, node="DiagonalScatterBackward0")
def diagonal_scatter(
    x: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A copy in which `src` is a diagonal of two dimensions."""
    _check_fits(diagonal(x, offset, dim1, dim2), src)
    first, second = wrap_dim(dim1, x.ndim), wrap_dim(dim2, x.ndim)
    placed = {"shape": tuple(x.shape), "offset": offset, "dim1": first, "dim2": second}
    covered = _embed(src.new_ones(src.shape, dtype=bool), **placed)
    return where(covered, _embed(src.to(x.dtype), **placed), x)


def _check_fits(part: Tensor, src: Tensor) -> None:
    if part.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
        )


@op(method=True, node="NarrowCopyBackward0")
def narrow_copy(x: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`narrow` that copies."""
    copied: Tensor = narrow(x, dim, start, length).clone()
    return copied


# ---- copies with slices at positions replaced ------------------------------------------------


def _is_by_tensor(_x: Tensor, _dim: int, _index: Tensor, value: Any) -> bool:
    return isinstance(value, Tensor)


@op(in_place=True, node=numbered("IndexFill", _is_by_tensor))
def index_fill(x: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy with one value, a number or a 0-d tensor, in the slices at positions.

    Raises:
        IndexError: a position is out of range, or is no integer.
        RuntimeError: the value has dimensions.
    """
    if index._array.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if not x.is_complex() and (
        value.is_complex() if isinstance(value, Tensor) else isinstance(value, complex)
    ):
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    dim = wrap_dim(dim, x.ndim)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if takes_no_slice(x, dim, index):
        return untouched(x, value)
    extent = x.shape[dim] if x.ndim else 1
    if not isinstance(index._array, Outline):
        check_bounds(index._array, extent, dim)
    chosen = x.new_zeros(extent, dtype=bool)
    chosen = index_put(chosen, (index.reshape(-1),), x.new_ones((), dtype=bool))
    shape = [-1 if axis == dim else 1 for axis in range(x.ndim)]
    return masked_fill(x, chosen.reshape(shape), value)


@op(in_place=True, node=saving("PutBackward0", source="source"))
@of_own_memory
def put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with elements of `source` at positions in row-major order, or added to them.

    Raises:
        IndexError: a position is out of range, or there are not as many elements.
        RuntimeError: the source has another dtype, or the positions are no int64.
    """
    check_positions(index, "put_(): Expected a long tensor for index, but got {}")
    if source.dtype is not x.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{x.dtype} and source.dtype = {source.dtype}"
        )
    if source.numel() != index.numel():
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )
    flat = index_put(x.reshape(-1), (index.reshape(-1),), source.reshape(-1), accumulate)
    return flat.reshape(x.shape)


# ---- copies with masked elements replaced ----------------------------------------------------


@op(in_place=True, node="MaskedScatterBackward0")
def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with the elements of `source`, in order, where the mask is true.

    Raises:
        RuntimeError: the mask is not boolean, or the source is too short or of another dtype.
    """
    if mask._array.dtype.kind != "b":
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype}"
        )
    if source.dtype is not x.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{x.dtype} and {source.dtype}"
        )
    shape = broadcast_shapes(x.shape, mask.shape)
    x, mask = x.expand(shape), mask.expand(shape)
    if not isinstance(mask._array, Outline) and int(mask._array.sum()) > source.numel():
        raise RuntimeError("Number of elements of source < number of ones in mask")
    if source.numel() == 0:
        return x.clone()
    counted = mask.reshape(-1).cumsum(0) - 1
    order = counted.clamp(0, source.numel() - 1)
    return where(mask, source.reshape(-1)[order].reshape(shape), x)
