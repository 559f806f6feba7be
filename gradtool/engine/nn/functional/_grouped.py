"""Products of matrices in groups, as of the experts of a mixture."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dtype_support import TYPE_NAMES
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.shape.joining import cat, stack
from gradtool.engine._tensor import Tensor

_TAKEN = (_dtypes.float32, _dtypes.bfloat16, _dtypes.float16)

_ALIGNMENT = 16
"""Bytes of which rows have to be a multiple."""


@node_name("GroupedMmBackward0")
def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: _dtypes.dtype | None = None,
) -> Tensor:
    """One product for each group.

    Args:
        mat_a: Of shape (groups, m, k), or without groups: (m, k).
        mat_b: Of shape (groups, k, n), or without groups: (k, n).
        offs: Of shape (groups,): the ends of the groups along the rows of a `mat_a`, or the columns
            of a `mat_b`, without groups; along the k of both, if neither has them.
        bias: Refused, as PyTorch does not support it.
        out_dtype: That of `mat_a`.

    Returns:
        Of shape (m, n) if one of them has no groups, where rows or columns beyond the last end are
        zero, and of shape (groups, m, n) otherwise.

    Raises:
        RuntimeError: PyTorch would refuse them.
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return matmul(mat_a, mat_b)
    pieces = list(_pieces(offs))
    if mat_a.ndim == mat_b.ndim:
        return stack([matmul(mat_a[:, a:b], mat_b[a:b]) for a, b in pieces])
    if mat_a.ndim == 2:
        rows = [matmul(mat_a[a:b], mat_b[group]) for group, (a, b) in enumerate(pieces)]
        rest = max(0, mat_a.shape[0] - pieces[-1][1])
        return cat([*rows, mat_a.new_zeros(rest, mat_b.shape[-1])])
    columns = [matmul(mat_a[group], mat_b[:, a:b]) for group, (a, b) in enumerate(pieces)]
    rest = max(0, mat_b.shape[1] - pieces[-1][1])
    return cat([*columns, mat_a.new_zeros(mat_a.shape[1], rest)], dim=1)


def _pieces(offs: Tensor) -> Iterator[tuple[int, int]]:
    """Yield where each group begins and ends."""
    start = 0
    for end in offs.tolist():
        yield start, end
        start = end


def _check(
    mat_a: Tensor,
    mat_b: Tensor,
    offs: Tensor | None,
    bias: Tensor | None,
    out_dtype: _dtypes.dtype | None,
) -> None:
    """Raise PyTorch's error for what it refuses, in its order."""
    for name, each in (("mat_a", mat_a), ("mat_b", mat_b)):
        if each.dtype not in _TAKEN:
            given = TYPE_NAMES[each.dtype.name]
            raise RuntimeError(
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {given}"
            )
    for name, each in (("mat_a", mat_a), ("mat_b", mat_b)):
        if each.ndim not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    if (mat_a.ndim == 2 or mat_b.ndim == 2) != (offs is not None):
        raise RuntimeError(
            "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"
        )
    is_free = mat_a.ndim == mat_b.ndim == 2
    if not is_free and mat_a.shape[-1] != mat_b.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    for each in (mat_a, mat_b):
        _check_strides(each)
    _check_groups(mat_a, mat_b, offs)
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")


def _check_strides(mat: Tensor) -> None:
    """Raise PyTorch's error for a matrix whose rows, or columns, are not aligned in memory."""
    rows, columns = mat.shape[-2:]
    by_row, by_column = mat.stride()[-2:]
    if by_row == 1 and by_column >= max(1, rows):
        step = by_column
    elif by_column == 1 and by_row >= max(1, columns):
        step = by_row
    else:
        strides, sizes = list(mat.stride()), list(mat.shape)
        raise RuntimeError(
            f"Invalid strides/sizes, got {strides} for strides and {sizes} for sizes"
        )
    if step * mat.element_size() % _ALIGNMENT:
        raise RuntimeError(f"strides should be multiple of {_ALIGNMENT} bytes")


def _check_groups(mat_a: Tensor, mat_b: Tensor, offs: Tensor | None) -> None:
    """Raise PyTorch's error for numbers of groups that differ, or ends of another dtype."""
    if offs is None:
        if mat_a.shape[0] != mat_b.shape[0]:
            raise RuntimeError("batched dimension has to match")
        return
    if offs.ndim != 1:
        raise RuntimeError("offs has to be 1D")
    if offs.dtype is not _dtypes.int32:
        raise RuntimeError("Offsets have to be int32")
    grouped = next((each for each in (mat_a, mat_b) if each.ndim == 3), None)
    if grouped is not None and grouped.shape[0] != offs.shape[0]:
        raise RuntimeError("matrix batch sizes have to match")
