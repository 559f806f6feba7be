"""Diagonals and triangles of matrices."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gradtool.engine._ops.core.batching import changing, of_examples, one_later, unchanged
from gradtool.engine._ops.core.dims import Ints, wrap_dim
from gradtool.engine._ops.core.dtype_support import NUMBERS, takes
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.shape.expansion import clone
from gradtool.engine._ops.shape.memory import without_elements
from gradtool.engine._tensor import Tensor


def _diagonal_of(x: Any, *, offset: int, dim1: int, dim2: int) -> Any:
    view = np.diagonal(x, offset, dim1, dim2)
    if not view.shape[-1] and isinstance(x, np.ndarray):
        return without_elements(x, view, 0)
    if isinstance(view, np.ndarray) and x.flags.writeable:
        view.flags.writeable = True  # NumPy's diagonal is read-only by default, torch's is not
    return view


def _with_diagonal(x: Any, *, shape: Ints, offset: int, dim1: int, dim2: int) -> Any:
    """Zeros but for a diagonal: the transpose of taking it."""
    out = np.zeros_like(x, shape=shape)
    _diagonal_of(out, offset=offset, dim1=dim1, dim2=dim2)[...] = x
    return out


def _kept(triangle: Any, x: Any, diagonal: int) -> Any:
    """``triangle(x, diagonal)`` by a mask that is kept for the next matrix of its shape."""
    extents = x.shape[-2:]
    if x.__class__ is not np.ndarray or extents[0] * extents[1] > _KEPT_ELEMENTS:
        return triangle(x, diagonal)
    return np.where(_mask(triangle, extents, diagonal), x, x.dtype.type(0))


_KEPT_ELEMENTS = 2**14
"""The most elements of a matrix whose mask is kept: of 16 kilobytes."""


@functools.lru_cache(maxsize=64)
def _mask(triangle: Any, extents: Ints, diagonal: int) -> Any:
    return triangle(np.ones(extents, bool), diagonal)


_tril = linear(
    "tril",
    lambda x, *, diagonal: _kept(np.tril, x, diagonal),
    lambda g, diagonal: g.tril(diagonal),
    batch=unchanged,
)
_triu = linear(
    "triu",
    lambda x, *, diagonal: _kept(np.triu, x, diagonal),
    lambda g, diagonal: g.triu(diagonal),
    batch=unchanged,
)
_diagonal = linear(
    "diagonal",
    _diagonal_of,
    lambda g, x_shape, offset, dim1, dim2: _embed(
        g, shape=x_shape, offset=offset, dim1=dim1, dim2=dim2
    ),
    is_view=True,
    batch=changing(dim1=one_later, dim2=one_later),
)
_embed: Primitive = linear(
    "diag_embed",
    _with_diagonal,
    lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2),
    batch=changing(shape=of_examples, dim1=one_later, dim2=one_later),
)


@op(in_place=True)
def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """Zero above a diagonal of the last two dimensions."""
    return _tril(_of_matrices(x, "tril"), diagonal=diagonal)


@op(in_place=True)
def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    """Zero below a diagonal of the last two dimensions."""
    return _triu(_of_matrices(x, "triu"), diagonal=diagonal)


def _of_matrices(x: Tensor, name: str) -> Tensor:
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return x


@op(method=True)
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonals of two dimensions, as a view; their elements come last."""
    first, second = _distinct(dim1, dim2, x.ndim)
    return _diagonal(x, offset=offset, dim1=first, dim2=second)


@op(method=True)
def diag_embed(x: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension as the diagonal of two new ones, zero elsewhere."""
    first, second = _distinct(dim1, dim2, x.ndim + 1)
    shape = list(x.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, x.shape[-1] + abs(offset))
    return _embed(x, shape=tuple(shape), offset=offset, dim1=first, dim2=second)


def _distinct(dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


@op(method=True, node=lambda x, *_, **__: "DiagonalBackward0_copy" if x.ndim == 2 else None)
def diag(x: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with a diagonal, or a copy of the diagonal of a matrix."""
    if x.ndim == 1:
        return diag_embed(x, diagonal)
    if x.ndim == 2:
        return clone(x.diagonal(diagonal))
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {x.ndim}D")


@op(method=True)
def diagflat(x: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements on a diagonal."""
    return diag_embed(x.reshape(-1), offset)


@op(method=True, node="TraceBackward0")
@takes(NUMBERS, "trace")
def trace(x: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix."""
    if x.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {x.ndim}")
    total: Tensor = diagonal(x).sum()
    return total
