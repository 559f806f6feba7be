"""LU factors, solving by them, and products of Householder reflectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtool.device import module_of
from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import broadcasting, unchanged
from gradtool.engine._ops.core.dtype_support import FACTORED, INT32
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import conjugate, constant, general
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.indexing.gathering import take_along_dim
from gradtool.engine._ops.linalg.inverses import solve_triangular
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import (
    identity_like,
    packed,
    require_matrices,
    require_square,
    unpacked,
)
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import tril, triu
from gradtool.engine._ops.shape.expansion import broadcast_shapes
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor

# ---- LU with exchanged rows ------------------------------------------------------------------
#
# Which rows are exchanged is found first, and is locally constant. What then is differentiated
# factors a matrix in place of whose rows none is exchanged any more. Source of its gradient:
# de Hoog, Anderssen and Lukas, "Differentiation of Matrix Functionals Using Triangular
# Factorization", 2011.


@return_type("linalg_lu")
class LinalgLU(NamedTuple):
    """A permutation, and the triangles below and above the diagonal."""

    P: Tensor
    L: Tensor
    U: Tensor


@return_type("linalg_lu_factor")
class LinalgLUFactor(NamedTuple):
    """Both triangles in one matrix, and which row each was exchanged with, counted from 1."""

    LU: Tensor
    pivots: Tensor


@return_type("linalg_lu_factor_ex")
class LinalgLUFactorEx(NamedTuple):
    """The same, and the number of the first pivot that is zero, or zero."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


# ---- factors ---------------------------------------------------------------------------------


@ignore_fp_warnings
def _eliminated(x: Any, *, pivoting: bool) -> tuple[Any, Any, Any]:
    """The factors in one matrix, the order of the rows, and the exchanges that made it."""
    rows, columns = x.shape[-2:]
    lib = module_of(x)
    work, places = x.copy(), lib.arange(rows)
    order = places + lib.zeros((*x.shape[:-2], 1), dtype=np.int64)
    exchanges = []
    for at in range(min(rows, columns)):
        if pivoting:
            exchange = _largest(work[..., at:, at]) + at
            moved = np.where(places == at, exchange, np.where(places == exchange, at, places))
            work = np.take_along_axis(work, moved[..., None], -2)
            order = np.take_along_axis(order, moved, -1)
            exchanges.append(exchange)
        pivot = work[..., at : at + 1, at : at + 1]
        factor = work[..., at + 1 :, at : at + 1]
        factor[...] = np.where(pivot == 0, factor, factor / np.where(pivot == 0, 1, pivot))
        work[..., at + 1 :, at + 1 :] -= factor * work[..., at : at + 1, at + 1 :]
    empty = lib.zeros((*x.shape[:-2], 0), dtype=np.int64)
    return work, order, np.concatenate([empty, *exchanges], axis=-1)


def _largest(column: Any) -> Any:
    """Return the place of the largest element, as LAPACK measures complex ones."""
    size = np.abs(column.real) + np.abs(column.imag) if column.dtype.kind == "c" else np.abs(column)
    return size.argmax(axis=-1)[..., None]


def _found_rows(x: Any) -> Any:
    _, order, exchanges = _eliminated(x, pivoting=True)
    return np.concatenate([order, exchanges + 1], axis=-1)


_rows = constant("lu_rows", _found_rows, dtypes=FACTORED, batch=broadcasting)


def _factored_vjp(g: Tensor, out: Tensor) -> Tensor:
    lower_h = adjoint(tril(out, -1) + identity_like(out.diagonal(0, -2, -1)))
    upper_h = adjoint(triu(out))
    inner = tril(matmul(lower_h, tril(g, -1)), -1) + triu(matmul(triu(g), upper_h))
    halfway = solve_triangular(lower_h, inner, upper=True, unitriangular=True)
    return solve_triangular(upper_h, halfway, upper=False, left=False)


_factored: Primitive = general(
    "linalg_lu",
    lambda x: _eliminated(x, pivoting=False)[0],
    _factored_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)


def _compact(x: Tensor) -> Tensor:
    """The factors of a matrix whose rows are in order: those of its leading square, and the rest.

    Of a wide matrix the other columns are solved for, of a tall one the other rows.
    """
    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    square = _factored(x.narrow(-2, 0, count).narrow(-1, 0, count))
    if rows < columns:
        rest = x.narrow(-1, count, columns - count)
        solved = solve_triangular(square, rest, upper=False, unitriangular=True)
        return cat([square, solved], -1)
    if rows > columns:
        rest = x.narrow(-2, count, rows - count)
        return cat([square, solve_triangular(square, rest, upper=True, left=False)], -2)
    return square


def lu_factor(A: Tensor, *, pivot: bool = True) -> LinalgLUFactor:  # noqa: N803 - torch's name
    """Both triangular factors in one matrix, the ones on the diagonal of L left out.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers.
    """
    require_matrices(A, "lu_factor")
    rows, count = A.shape[-2], min(A.shape[-2:])
    if not pivot:
        exchanges = arange(1, count + 1, dtype=_dtypes.int32).expand(*A.shape[:-2], count)
        return LinalgLUFactor(_compact(A), exchanges)
    found = _rows(A.detach())
    order, exchanges = found.narrow(-1, 0, rows), found.narrow(-1, rows, count)
    compact = _compact(take_along_dim(A, order.unsqueeze(-1), -2))
    return LinalgLUFactor(compact, exchanges.to(_dtypes.int32))


def lu_factor_ex(
    A: Tensor,  # noqa: N803
    *,
    pivot: bool = True,
    check_errors: bool = False,
) -> LinalgLUFactorEx:
    """`lu_factor`, and where the first pivot is zero, counted from 1; zero if none is.

    Raises:
        RuntimeError: `check_errors`, and a pivot is zero.
    """
    compact, exchanges = lu_factor(A, pivot=pivot)
    missing = compact.detach().diagonal(0, -2, -1) == 0
    first = (missing.cumsum(-1) == 0).sum(-1) + 1
    info = (first * missing.any(-1)).to(_dtypes.int32)
    if check_errors and bool(info.any()):
        raise RuntimeError(f"lu_factor: a pivot is zero, and U singular: info is {info.tolist()}")
    return LinalgLUFactorEx(compact, exchanges, info)


# ---- taken apart -----------------------------------------------------------------------------


def _ordered(x: Any, *, extent: int) -> Any:
    """The order of the rows that exchanges, counted from 1, make."""
    lib = module_of(x)
    places = lib.arange(extent)
    order = places + lib.zeros((*x.shape[:-1], 1), dtype=np.int64)
    for at in range(x.shape[-1]):
        exchange = x[..., at : at + 1].astype(np.int64) - 1
        moved = np.where(places == at, exchange, np.where(places == exchange, at, places))
        order = np.take_along_axis(order, moved, -1)
    return order


_order_of = constant("lu_order", _ordered, dtypes=INT32, batch=unchanged)


@op
def lu_unpack(
    LU_data: Tensor,  # noqa: N803
    LU_pivots: Tensor,  # noqa: N803
    unpack_data: bool = True,
    unpack_pivots: bool = True,
) -> LinalgLU:
    """The permutation matrix P and the factors L and U of which ``P @ L @ U`` is the matrix."""
    compact = LU_data
    rows, columns = compact.shape[-2:]
    count = min(rows, columns)
    empty = compact.new_zeros(0)
    permutation = lower = upper = empty
    if unpack_pivots:
        order = _order_of(LU_pivots, extent=rows)
        one = arange(rows, device=compact.device).unsqueeze(-1) == order.unsqueeze(-2)
        permutation = one.to(compact.dtype)
    if unpack_data:
        below = tril(compact.narrow(-1, 0, count), -1)
        lower = below + _ones_on_diagonal(below)
        upper = triu(compact.narrow(-2, 0, count))
    return LinalgLU(permutation, lower, upper)


def _ones_on_diagonal(x: Tensor) -> Tensor:
    rows, columns = x.shape[-2:]
    place = arange(rows, device=x.device).unsqueeze(-1) == arange(columns, device=x.device)
    return place.to(x.dtype)


def lu(A: Tensor, *, pivot: bool = True) -> LinalgLU:  # noqa: N803
    """P, L and U with ``A = P L U``; without pivoting P is left empty.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers.
    """
    compact, exchanges = lu_factor(A, pivot=pivot)
    return lu_unpack(compact, exchanges, unpack_pivots=pivot)


# ---- systems ---------------------------------------------------------------------------------


def lu_solve(
    LU: Tensor,  # noqa: N803
    pivots: Tensor,
    B: Tensor,  # noqa: N803
    *,
    left: bool = True,
    adjoint: bool = False,
) -> Tensor:
    """X with ``A X = B``, ``X A = B``, or the same of the adjoint of A, given `lu_factor` of A.

    Raises:
        RuntimeError: the factors are no square matrix.
    """
    require_square(LU, "lu_solve", "LU")
    order = _order_of(pivots, extent=LU.shape[-1])
    if left:
        return _solved_adjoint(LU, order, B) if adjoint else _solved(LU, order, B)
    solve = _solved if adjoint else _solved_adjoint
    return _adjoint(solve(LU, order, _adjoint(B)))


def _solved(compact: Tensor, order: Tensor, y: Tensor) -> Tensor:
    moved = _in_order(y, order)
    halfway = solve_triangular(compact, moved, upper=False, unitriangular=True)
    return solve_triangular(compact, halfway, upper=True)


def _solved_adjoint(compact: Tensor, order: Tensor, y: Tensor) -> Tensor:
    transposed = _adjoint(compact)
    halfway = solve_triangular(transposed, y, upper=False)
    solved = solve_triangular(transposed, halfway, upper=True, unitriangular=True)
    return _in_order(solved, order.argsort(-1))


def _in_order(y: Tensor, order: Tensor) -> Tensor:
    """The rows in an order, where the batches of both broadcast."""
    batch = broadcast_shapes(y.shape[:-2], order.shape[:-1])
    rows = order.expand(*batch, order.shape[-1]).unsqueeze(-1)
    return take_along_dim(y.expand(*batch, *y.shape[-2:]), rows, -2)


_adjoint = adjoint

"""The others are functions of ``torch.linalg``, or go by another name here."""


# ---- Householder reflectors ------------------------------------------------------------------


@return_type("geqrf")
class ReflectorsAndFactors(NamedTuple):
    """R with the reflectors below it, and the factor of each reflector."""

    a: Tensor
    tau: Tensor


def _raw_qr(x: Any) -> Any:
    reflectors, factors = np.linalg.qr(x, mode="raw")
    return packed(x.dtype, (np.swapaxes(reflectors, -1, -2), 2), (factors, 1))


_raw = constant("geqrf", _raw_qr, batch=unchanged)


def qr_of_reflectors(x: Tensor) -> ReflectorsAndFactors:
    """``torch.geqrf``: the QR factorization as LAPACK leaves it. It has no derivative.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers.
    """
    require_matrices(x, "geqrf", "input")
    rows, columns = x.shape[-2:]
    return ReflectorsAndFactors(*unpacked(_raw(x), (rows, columns), (min(rows, columns),)))


def _directions(x: Tensor, count: int) -> list[Tensor]:
    """Columns of which each reflects: a one on the diagonal, and what is stored below it."""
    rows, columns = x.shape[-2:]
    place = arange(rows, device=x.device).unsqueeze(-1) == arange(columns, device=x.device)
    whole = tril(x, -1) + place.to(x.dtype)
    return [whole.narrow(-1, at, 1) for at in range(count)]


def _reflected(direction: Tensor, factor: Tensor, y: Tensor) -> Tensor:
    """``(I - tau v vᴴ) y``."""
    return y - matmul(direction * factor, matmul(adjoint(direction), y))


def _factors(tau: Tensor) -> list[Tensor]:
    return [tau.narrow(-1, at, 1).unsqueeze(-1) for at in range(tau.shape[-1])]


def householder_product(A: Tensor, tau: Tensor) -> Tensor:  # noqa: N803 - torch's name
    """The first columns of the product of all reflectors, as many as `A` has.

    Raises:
        RuntimeError: `A` is no matrix, or wide, or has fewer columns than `tau` elements.
    """
    require_matrices(A, "householder_product", "input")
    rows, columns = A.shape[-2:]
    if rows < columns:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
            "input.shape[-1]"
        )
    if columns < tau.shape[-1]:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to "
            "tau.shape[-1]"
        )
    place = arange(rows, device=A.device).unsqueeze(-1) == arange(columns, device=A.device)
    out = place.to(A.dtype)
    for direction, factor in reversed([*zip(_directions(A, tau.shape[-1]), _factors(tau))]):
        out = _reflected(direction, factor, out)
    return out


@op(method=True)
def ormqr(
    x: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """The product of all reflectors, or its adjoint, times a matrix, from the left or the right.

    Args:
        x: The reflectors, below the diagonal.
        input2: The factor of each.
        input3: The matrix.
        left: Whether the product comes first.
        transpose: Whether its adjoint is meant.

    Raises:
        RuntimeError: `x` is no matrix of floating or complex numbers.
    """
    require_matrices(x, "ormqr", "input")
    if not left:
        return adjoint(ormqr(x, input2, adjoint(input3), True, not transpose))
    pairs = [*zip(_directions(x, input2.shape[-1]), _factors(input2))]
    out = input3
    for direction, factor in pairs if transpose else reversed(pairs):
        out = _reflected(direction, conjugate(factor) if transpose else factor, out)
    return out


"""The others are functions of ``torch.linalg``, or go by another name here."""
