"""Norms, distances and the condition of matrices."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints, as_ints, wrap_dim, wrap_dims
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.linalg.inverses import inv_ex
from gradtool.engine._ops.linalg.matrices import require_floats, require_square, require_two_dims
from gradtool.engine._ops.linalg.singular_values import svdvals
from gradtool.engine._ops.reductions.extremum import amax, amin
from gradtool.engine._ops.reductions.norm import norm as _of_vectors
from gradtool.engine._ops.shape.axes import movedim
from gradtool.engine._tensor import Tensor

# ---- norms of vectors and matrices -----------------------------------------------------------


@node_name(saving("LinalgVectorNormBackward0", "x", "out"))
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
) -> Tensor:
    """The p-norm of all elements, or over some dimensions."""
    return _of_vectors(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Tensor,  # noqa: N803 - torch's name
    ord: float | str = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
) -> Tensor:
    """A norm of matrices.

    ``fro`` is that of all elements, ``nuc`` the sum of the singular values, 2 and -2 the largest
    and the smallest of them, 1 and -1 the largest and smallest sum of a column's magnitudes,
    inf and -inf of a row's.

    Raises:
        RuntimeError: there is no such norm, or no such dimensions.
    """
    if dtype is not None:
        A = A.to(dtype)  # noqa: N806
    require_two_dims(A, "linalg.matrix_norm")
    if not A.dtype.is_differentiable:
        require_floats(A, "linalg.matrix_norm")
    rows, columns = _two_dims(dim, A.ndim)
    if ord == "fro":
        return _of_vectors(A, 2, (rows, columns), keepdim)
    if ord in ("nuc", 2, -2):
        found = _of_singular_values(movedim(A, (rows, columns), (-2, -1)), ord)
        return _kept(found, (rows, columns)) if keepdim else found
    return _of_sums(A, ord, rows, columns, keepdim)


def _two_dims(dim: Any, ndim: int) -> Ints:
    dims = as_ints(dim)
    if len(dims) != 2:
        raise RuntimeError(
            "linalg.matrix_norm: dim must be a 2-tuple. Got " + " ".join(map(str, dims))
        )
    return wrap_dims(dims, ndim)


def _of_singular_values(x: Tensor, ord: float | str) -> Tensor:
    values = svdvals(x)
    if ord == "nuc":
        total: Tensor = values.sum(-1)
        return total
    return (amax if ord == 2 else amin)(values, -1)


def _kept(x: Tensor, dims: Ints) -> Tensor:
    for dim in sorted(dims):
        x = x.unsqueeze(dim)
    return x


def _of_sums(x: Tensor, ord: float | str, rows: int, columns: int, keepdim: bool) -> Tensor:
    if isinstance(ord, str) or abs(ord) not in (1, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    summed, chosen = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = x.abs().sum(summed, keepdim=True)
    found = (amax if ord > 0 else amin)(sums, chosen, True)
    return found if keepdim else found.squeeze((rows, columns))


def norm(
    A: Tensor,  # noqa: N803
    ord: float | str | None = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
) -> Tensor:
    """`vector_norm` or `matrix_norm`, whichever the dimensions and the order call for."""
    dims = None if dim is None else as_ints(dim)
    if ord is None or (len(dims) == 1 if dims else A.ndim == 1 and not isinstance(ord, str)):
        return vector_norm(A, 2 if ord is None else ord, dims, keepdim, dtype=dtype)  # type: ignore[arg-type]
    if dims is None and A.ndim != 2:
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
            f"Got {A.ndim}D."
        )
    return matrix_norm(A, ord, (-2, -1) if dims is None else dims, keepdim, dtype=dtype)


# ---- condition -------------------------------------------------------------------------------

_ORDERS = ("fro", "nuc", 1, -1, math.inf, -math.inf)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:  # noqa: N803
    """The condition number: the norm of a matrix times that of its inverse.

    Raises:
        RuntimeError: it is no matrix, or for a norm other than 2 and -2, no square one.
    """
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p in (None, 2, -2):
        if 0 in A.shape:
            return real(A).new_zeros(A.shape[:-2])
        values = svdvals(A)
        largest, smallest = values.select(-1, 0), values.select(-1, -1)
        return smallest / largest if p == -2 else largest / smallest
    if p not in _ORDERS:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    assert p is not None
    require_square(A, f"linalg.cond(ord={p})", of_floats=False)
    if 0 in A.shape:
        return real(A).new_zeros(A.shape[:-2])
    inverse, info = inv_ex(A)
    number: Tensor = matrix_norm(A, p) * matrix_norm(inverse, p)
    return number.masked_fill(info > 0, math.inf)


# ---- distances, and both extremes at once ----------------------------------------------------


_SLACK = 1e-7
"""What PyTorch adds to a norm before it divides by it."""


@op(method=True, node=saving("DistBackward0", "x", "other", "out"))
def dist(x: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of the difference of all elements."""
    return _of_vectors(x - other, p)


@op(in_place=True, node="RenormBackward0")
def renorm(x: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Each slice along a dimension, scaled down where its p-norm is larger than `maxnorm`.

    Raises:
        RuntimeError: the tensor has fewer than two dimensions, or a number is not positive.
    """
    if p <= 0:
        raise RuntimeError("non-positive-norm not supported")
    if x.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {x.ndim} dimensions")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    dim = wrap_dim(dim, x.ndim)
    size = _of_vectors(x, p, [each for each in range(x.ndim) if each != dim], keepdim=True)
    scale = maxnorm / (size + _SLACK)
    return x * scale.masked_fill(size <= maxnorm, 1)


@return_type("aminmax")
class Aminmax(NamedTuple):
    """Result of `aminmax`."""

    min: Tensor
    max: Tensor


@op(method=True, node="AminmaxBackward0")
def aminmax(x: Tensor, *, dim: Any = None, keepdim: bool = False) -> Aminmax:
    """The smallest and the largest element, of all or along a dimension."""
    dims: Any = () if dim is None else dim
    return Aminmax(amin(x, dims, keepdim), amax(x, dims, keepdim))
