"""Norms and distances, and what follows from singular values: rank and condition."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dims import Ints, as_ints, wrap_dim, wrap_dims
from gradtool.engine._ops.core.dtype_support import FACTORED
from gradtool.engine._ops.core.kinds import constant
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.linalg.factorizations import svdvals
from gradtool.engine._ops.linalg.inverses import inv, tolerances
from gradtool.engine._ops.linalg.matrices import of_matrices, require_matrices, require_square
from gradtool.engine._ops.reductions.extremum import amax, amin
from gradtool.engine._ops.reductions.norm import norm as _of_vectors
from gradtool.engine._ops.shape.axes import movedim
from gradtool.engine._tensor import Tensor

# ---- norms of vectors and matrices -----------------------------------------------------------


@node_name("LinalgVectorNormBackward0")
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
    require_matrices(A, "matrix_norm")
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


# ---- rank and condition ----------------------------------------------------------------------


def _rank_of(x: Any, *, atol: float, rtol: float, hermitian: bool) -> Any:
    values = np.abs(np.linalg.eigvalsh(x)) if hermitian else np.linalg.svd(x, compute_uv=False)
    cutoff = np.maximum(atol, rtol * np.sort(values, axis=-1)[..., -1:])
    return (values > cutoff).sum(axis=-1)


_rank = constant(
    "linalg_matrix_rank", of_matrices("matrix_rank", _rank_of), dtypes=FACTORED, batch=broadcasting
)


def matrix_rank(
    A: Tensor,  # noqa: N803
    tol: float | None = None,
    hermitian: bool = False,
    *,
    atol: float | None = None,
    rtol: float | None = None,
) -> Tensor:
    """Count the singular values above ``max(atol, rtol * largest)``; `tol` is an old `atol`.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers.
    """
    require_matrices(A, "matrix_rank")
    absolute, relative = tolerances(A, atol if tol is None else tol, 0.0 if tol else rtol)
    return _rank(A, atol=absolute, rtol=relative, hermitian=hermitian)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:  # noqa: N803
    """The condition number: the norm of a matrix times that of its inverse.

    Raises:
        RuntimeError: it is no matrix, or for a norm other than 2 and -2, no square one.
    """
    require_matrices(A, "cond")
    if p in (None, 2, -2):
        values = svdvals(A)
        largest, smallest = values.select(-1, 0), values.select(-1, -1)
        return smallest / largest if p == -2 else largest / smallest
    require_square(A, "cond")
    assert p is not None
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


"""Under their own names these are functions of ``torch.linalg``."""


# ---- distances, and both extremes at once ----------------------------------------------------


_SLACK = 1e-7
"""What PyTorch adds to a norm before it divides by it."""


@op(method=True, node="DistBackward0")
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
