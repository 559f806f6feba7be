"""LU factors with exchanged rows, and solving by them.

Which rows are exchanged is locally constant. Source of the gradient: de Hoog, Anderssen and Lukas,
"Differentiation of Matrix Functionals Using Triangular Factorization", 2011.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtool.device import module_of
from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import broadcasting, unchanged
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import FACTORED, INT32
from gradtool.engine._ops.core.kinds import constant, general
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.indexing.gathering import take_along_dim
from gradtool.engine._ops.linalg.elimination import eliminated
from gradtool.engine._ops.linalg.inverses import solve_triangular
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import (
    check_dtypes,
    check_extents,
    check_info,
    first_of,
    identity_like,
    of_matrices,
    packed,
    require_matrices,
    require_square,
    require_two_dims,
    unpacked,
)
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import tril, triu
from gradtool.engine._ops.shape.expansion import broadcast_shapes
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor


@return_type("linalg_lu")
class LinalgLU(NamedTuple):
    """A permutation, and the triangles below and above the diagonal."""

    P: Tensor
    L: Tensor
    U: Tensor


@return_type("lu_unpack")
class LUUnpack(NamedTuple):
    """The same, each empty if it is not asked for."""

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


def _eliminated(x: Any, *, pivoting: bool) -> Any:
    factors, order, exchanges = eliminated(x, pivoting=pivoting)
    return packed(x.dtype, (factors, 2), (order, 1), (exchanges + 1, 1))


def _shapes(shape: Ints) -> tuple[Ints, Ints, Ints]:
    rows, columns = shape[-2:]
    return (rows, columns), (rows,), (min(rows, columns),)


def _eliminated_vjp(g: Tensor, out: Tensor, pivoting: bool, x_shape: Ints) -> Tensor:
    """Of the rows and columns beyond the leading square first: they depend on its factors."""
    shapes = _shapes(x_shape)
    factors, order, _ = unpacked(out, *shapes)
    g_factors = unpacked(g, *shapes)[0]
    (rows, columns), count = shapes[0], shapes[2][0]
    square, of_square = (
        each.narrow(-2, 0, count).narrow(-1, 0, count) for each in (factors, g_factors)
    )
    beyond = factors, g_factors, square, count
    if rows > columns:
        gradient = _of_tall(of_square, *beyond)
    elif rows < columns:
        gradient = _of_wide(of_square, *beyond)
    else:
        gradient = _of_square(tril(of_square, -1), triu(of_square), square)
    if not pivoting:
        return gradient
    back = real(order).detach().argsort(-1).unsqueeze(-1)
    return take_along_dim(gradient, back, -2)


def _of_square(g_lower: Tensor, g_upper: Tensor, factors: Tensor) -> Tensor:
    lower_h = adjoint(tril(factors, -1) + identity_like(factors.diagonal(0, -2, -1)))
    inner = tril(matmul(lower_h, g_lower), -1) + triu(matmul(g_upper, adjoint(triu(factors))))
    halfway = solve_triangular(lower_h, inner, upper=True, unitriangular=True)
    return solve_triangular(adjoint(factors), halfway, upper=False, left=False)


def _of_tall(of_square: Tensor, factors: Tensor, g: Tensor, square: Tensor, count: int) -> Tensor:
    more = factors.shape[-2] - count
    below, g_below = factors.narrow(-2, count, more), g.narrow(-2, count, more)
    gradient = solve_triangular(adjoint(square), g_below, upper=False, left=False)
    g_upper = triu(of_square) - triu(matmul(adjoint(below), gradient))
    return cat([_of_square(tril(of_square, -1), g_upper, square), gradient], -2)


def _of_wide(of_square: Tensor, factors: Tensor, g: Tensor, square: Tensor, count: int) -> Tensor:
    more = factors.shape[-1] - count
    beside, g_beside = factors.narrow(-1, count, more), g.narrow(-1, count, more)
    gradient = solve_triangular(adjoint(square), g_beside, upper=True, unitriangular=True)
    g_lower = tril(of_square, -1) - tril(matmul(gradient, adjoint(beside)), -1)
    return cat([_of_square(g_lower, triu(of_square), square), gradient], -1)


_lu: Primitive = general(
    "linalg_lu_factor_ex",
    of_matrices("linalg.lu_factor", _eliminated),
    _eliminated_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)


def _factored(x: Tensor, name: str, pivot: bool) -> tuple[Tensor, Tensor]:
    require_matrices(x, name)
    compact, _, exchanges = unpacked(_lu(x, pivoting=pivot), *_shapes(x.shape))
    return compact, real(exchanges).detach().to(_dtypes.int32)


def _first_zero(compact: Tensor) -> Tensor:
    return first_of(compact.detach().diagonal(0, -2, -1) == 0)


@node_name("LinalgLuFactorExBackward0")
def lu_factor(A: Tensor, *, pivot: bool = True) -> LinalgLUFactor:  # noqa: N803 - torch's name
    """Both triangular factors in one matrix, the ones on the diagonal of L left out.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers, or has a pivot of zero.
    """
    compact, exchanges = _factored(A, "torch.linalg.lu_factor", pivot)
    check_info("torch.linalg.lu_factor", _first_zero(compact), RuntimeError)
    return LinalgLUFactor(compact, exchanges)


@node_name("LinalgLuFactorExBackward0")
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
    compact, exchanges = _factored(A, "torch.linalg.lu_factor_ex", pivot)
    info = _first_zero(compact)
    if check_errors:
        check_info("torch.linalg.lu_factor_ex", info, RuntimeError)
    return LinalgLUFactorEx(compact, exchanges, info)


# ---- taken apart -----------------------------------------------------------------------------


def _ordered(x: Any, *, extent: int) -> Any:
    """The order of the rows that exchanges, counted from 1, make."""
    if ((x < 1) | (x > extent)).any():
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )
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
) -> LUUnpack:
    """The permutation matrix P and the factors L and U of which ``P @ L @ U`` is the matrix.

    Raises:
        RuntimeError: `LU_pivots` are not what `lu_factor` returns.
    """
    require_two_dims(LU_data, "torch.lu_unpack", "LU_data")
    if unpack_pivots and LU_pivots.dtype is not _dtypes.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            "dtype.\nNote: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor"
        )
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
    return LUUnpack(permutation, lower, upper)


def _ones_on_diagonal(x: Tensor) -> Tensor:
    rows, columns = x.shape[-2:]
    place = arange(rows, device=x.device).unsqueeze(-1) == arange(columns, device=x.device)
    return place.to(x.dtype)


@node_name("LinalgLuBackward0")
def lu(A: Tensor, *, pivot: bool = True) -> LinalgLU:  # noqa: N803
    """P, L and U with ``A = P L U``; without pivoting P is left empty.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers.
    """
    compact, exchanges = _factored(A, "linalg.lu", pivot)
    return LinalgLU(*lu_unpack(compact, exchanges, unpack_pivots=pivot))


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
    _check_factors(LU, pivots)
    check_dtypes("linalg.lu_solve", LU, B)
    check_extents("linalg.lu_solve", LU, B, left)
    order = _order_of(pivots, extent=LU.shape[-1])
    if left:
        return _solved_adjoint(LU, order, B) if adjoint else _solved(LU, order, B)
    solve = _solved if adjoint else _solved_adjoint
    return _adjoint(solve(LU, order, _adjoint(B)))


def _check_factors(factors: Tensor, pivots: Tensor) -> None:
    name = "linalg.lu_solve"
    if pivots.dtype is not _dtypes.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    require_square(factors, name, "LU")
    if pivots.shape[-1:] != factors.shape[-1:]:
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if pivots.shape != factors.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )


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
