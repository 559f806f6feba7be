"""Makers of sparse tensors from places and values."""

from __future__ import annotations

from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.creation import arange, zeros
from gradtool.engine._ops.creation.literals import as_tensor
from gradtool.engine._ops.shape.joining import stack
from gradtool.engine._placeholder import EngineLacksError
from gradtool.engine._settings import sparse_coo, sparse_csr
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor
from gradtool.engine.sparse._tensor import Entries, SparseTensor, made


def sparse_coo_tensor(
    indices: Any,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> SparseTensor:
    """Make a sparse tensor of the places of its entries and their values.

    Raises:
        RuntimeError: The places, values and size do not belong together.
    """
    if not isinstance(indices, Tensor) and values is None:
        return _empty(tuple(indices), dtype)
    places = as_tensor(indices, dtype=_dtypes.int64, device=device)
    held = _values(values, dtype, device, requires_grad)
    if places.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    if not held.ndim or held.shape[0] != places.shape[1]:
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{places.shape[1]}, nnz from values: {held.shape[0] if held.ndim else 0}"
        )
    if size is None:
        size = [int(each.max()) + 1 for each in places] if places.shape[1] else []
        size = [*size, *held.shape[1:]]
    _check_places(places, size, held)
    return made(Entries(places, held, Size(size), sparse_coo, bool(is_coalesced)))


def _empty(size: tuple[int, ...], dtype: Any) -> SparseTensor:
    places = zeros(len(size), 0, dtype=_dtypes.int64)
    return made(Entries(places, zeros(0, dtype=dtype), Size(size), sparse_coo, True))


def _values(values: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    if requires_grad:
        raise EngineLacksError("gradients of sparse tensors, but only of the values in them")
    return as_tensor(values, dtype=dtype, device=device)


def _check_places(places: Tensor, size: Any, values: Tensor) -> None:
    """Refuse places outside of a size, and a size of other values.

    Raises:
        RuntimeError: As it says.
    """
    count = places.shape[0]
    if len(size) != count + values.ndim - 1:
        raise RuntimeError(
            "number of dimensions must be sparse_dim "
            f"({count}) + dense_dim ({values.ndim - 1}), but got {len(size)}"
        )
    for dim, (index, extent) in enumerate(zip(places, size, strict=False)):
        if not index.numel():
            continue
        if int(index.min()) < 0:
            raise RuntimeError(f"found negative index {int(index.min())} for dim {dim}")
        if int(index.max()) >= extent:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {extent} but found "
                f"index {int(index.max())}"
            )


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> SparseTensor:
    """Make a sparse matrix of the number of entries before each row, the columns and the values."""
    starts = as_tensor(crow_indices, dtype=_dtypes.int64, device=device)
    columns = as_tensor(col_indices, dtype=_dtypes.int64, device=device)
    rows = arange(len(starts) - 1).repeat_interleave(starts.diff())
    held = _values(values, dtype, device, requires_grad)
    if size is None:
        size = [len(starts) - 1, int(columns.max()) + 1 if columns.numel() else 0]
    places = stack([rows, columns])
    _check_places(places, size, held)
    return made(Entries(places, held, Size(size), sparse_csr, True))
