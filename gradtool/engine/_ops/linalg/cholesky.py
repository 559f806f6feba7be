"""Positive definite matrices as a triangle times its adjoint, and what solves by such a factor.

Source of the gradient: Murray, "Differentiation of the Cholesky decomposition", 2016. As in
PyTorch, derivatives take the whole of a matrix for Hermitian, and all of a factor for its triangle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dtype_support import FACTORED, check_taken
from gradtool.engine._ops.core.kinds import general
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.linalg.elimination import substituted
from gradtool.engine._ops.linalg.inverses import solve_triangular
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import (
    bad_minor,
    check_info,
    check_systems,
    first_of,
    of_matrices,
    require_square,
    turned,
)
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import diag_embed, tril
from gradtool.engine._tensor import Tensor

# ---- factors ---------------------------------------------------------------------------------


def _factor(x: Any, *, upper: bool) -> Any:
    factor = np.linalg.cholesky(turned(x) if upper else x)
    if np.isnan(factor.diagonal(axis1=-2, axis2=-1)).any():
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    return turned(factor) if upper else factor


def _factor_or_part(x: Any, *, upper: bool) -> Any:
    """The factor, of a matrix that has none as far as elimination goes."""
    try:
        return _factor(x, upper=upper)
    except np.linalg.LinAlgError:
        flat = x.reshape(-1, *x.shape[-2:])
        parts = [_part(turned(each) if upper else each) for each in flat]
        found = np.stack(parts).reshape(x.shape)
        return turned(found) if upper else found


def _part(x: Any) -> Any:
    """The columns before the minor that is not positive definite, then its pivot, then `x`."""
    order = bad_minor(x)
    if order is None:
        return np.linalg.cholesky(x)
    known, out = order - 1, np.tril(x)
    if known:
        out[:known, :known] = np.linalg.cholesky(x[:known, :known])
        beside = np.linalg.solve(out[:known, :known], turned(x[known:, :known]))
        out[known:, :known] = turned(beside)
        out[known, known] -= (np.abs(out[known, :known]) ** 2).sum()
    return out


def _factor_vjp(g: Tensor, out: Tensor, upper: bool) -> Tensor:
    lower, g = (adjoint(out), adjoint(g)) if upper else (out, g)
    lower_h = adjoint(lower)
    inner = tril(matmul(lower_h, g))
    symmetric = (inner + adjoint(tril(inner, -1))) * 0.5
    right = solve_triangular(lower_h, symmetric, upper=True)
    return solve_triangular(lower, right, upper=False, left=False)


def _factor_jvp(tangents: Sequence[Any], out: Tensor, upper: bool) -> Tensor:
    lower = adjoint(out) if upper else out
    right = solve_triangular(lower, tangents[0], upper=False)
    inner = solve_triangular(adjoint(lower), right, upper=True, left=False)
    change = matmul(lower, tril(inner) - diag_embed(inner.diagonal(0, -2, -1)) * 0.5)
    return adjoint(change) if upper else change


def _declared(node: str, name: str, compute: Any) -> Primitive:
    return general(
        node, of_matrices(name, compute), _factor_vjp, jvp=_factor_jvp,
        dtypes=FACTORED, batch=broadcasting,
    )  # fmt: skip


_cholesky = _declared("linalg_cholesky_ex", "linalg.cholesky", _factor)
_cholesky_or_part = _declared("linalg_cholesky_ex", "linalg.cholesky_ex", _factor_or_part)
_old_cholesky = _declared("cholesky", "cholesky", _factor)


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:  # noqa: N803 - torch's name
    """The lower triangle L with ``A = L Lᴴ``, or its adjoint. Of A one triangle is looked at.

    Raises:
        LinAlgError: A is not positive definite.
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "linalg.cholesky")
    return _cholesky(A, upper=upper)


def old_cholesky(x: Tensor, upper: bool = False) -> Tensor:
    """`cholesky` with its option as a positional argument."""
    require_square(x, "cholesky")
    return _old_cholesky(x, upper=upper)


op(old_cholesky, name="cholesky", method=True)


@return_type("linalg_cholesky_ex")
class LinalgCholeskyEx(NamedTuple):
    """A triangle, and the order of the first minor that is not positive definite, or zero."""

    L: Tensor
    info: Tensor


def cholesky_ex(
    A: Tensor,  # noqa: N803
    *,
    upper: bool = False,
    check_errors: bool = False,
) -> LinalgCholeskyEx:
    """`cholesky`, with numbers that mean nothing where a matrix is not positive definite.

    Raises:
        LinAlgError: `check_errors`, and A is not positive definite.
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "linalg.cholesky")
    factor = _cholesky_or_part(A, upper=upper)
    info = first_of(~(real(factor.detach().diagonal(0, -2, -1)) > 0))
    if check_errors:
        check_info("linalg.cholesky_ex", info)
    return LinalgCholeskyEx(factor, info)


# ---- solving by a factor ---------------------------------------------------------------------


def _triangle(x: Any, upper: bool) -> Any:
    return np.triu(x) if upper else turned(np.tril(x))


def _solved(y: Any, x: Any, *, upper: bool) -> Any:
    right = _triangle(x, upper)
    return substituted(right, substituted(turned(right), y, upper=False), upper=True)


def _solved_by_factor(g: Tensor, x: Tensor, out: Tensor, upper: bool, x_shape: Any) -> Tensor:
    half = matmul(_cholesky_solve(g, x, upper=upper), adjoint(out))
    return _by_factor(half, x, upper).sum_to_size(x_shape)


def _by_factor(half: Tensor, x: Tensor, upper: bool) -> Tensor:
    """Minus the gradient of a factor, where that of the matrix is minus `half`."""
    both = half + adjoint(half)
    return -(matmul(x, both) if upper else matmul(both, x))


def _change_of_matrix(x: Tensor, tangent: Tensor, upper: bool) -> Tensor:
    half = matmul(adjoint(tangent), x) if upper else matmul(tangent, adjoint(x))
    return half + adjoint(half)


def _solved_jvp(tangents: Sequence[Any], x: Tensor, out: Tensor, upper: bool) -> Tensor:
    of_right, of_factor = tangents
    change = of_right
    if of_factor is not None:
        moved = matmul(_change_of_matrix(x, of_factor, upper), out)
        change = -moved if change is None else change - moved
    return _cholesky_solve(change, x, upper=upper)


_cholesky_solve: Primitive = general(
    "cholesky_solve",
    of_matrices("cholesky_solve", _solved),
    lambda g, x, upper, y_shape: _cholesky_solve(g, x, upper=upper).sum_to_size(y_shape),
    _solved_by_factor,
    jvp=_solved_jvp,
    dtypes=FACTORED,
    batch=broadcasting,
)


@op(method=True)
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:  # noqa: N803
    """X with ``L Lᴴ X = B``, or with ``Lᴴ L X = B`` for an upper triangle.

    Raises:
        RuntimeError: one is no matrix, or their extents do not fit.
    """
    for name, each in (("b", B), ("u", L)):
        if each.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {each.ndim} dimensions instead"
            )
    check_systems("cholesky_solve", B, L)
    check_taken(L, FACTORED, "cholesky_solve_cpu")
    return _cholesky_solve(B, L, upper=upper)


def _inverse(x: Any, *, upper: bool) -> Any:
    inverse = np.linalg.inv(_triangle(x, upper))
    return inverse @ turned(inverse)


_cholesky_inverse = general(
    "cholesky_inverse",
    of_matrices("cholesky_inverse", _inverse),
    lambda g, x, out, upper: _by_factor(matmul(matmul(out, g), out), x, upper),
    jvp=lambda tangents, x, out, upper: (
        -matmul(matmul(out, _change_of_matrix(x, tangents[0], upper)), out)
    ),
    dtypes=FACTORED,
    batch=broadcasting,
)


@op(method=True)
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:  # noqa: N803
    """The inverse of the matrix with this triangle as its Cholesky factor.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(L, "cholesky_inverse", of_floats=False)
    check_taken(L, FACTORED, "cholesky_inverse_out_cpu")
    return _cholesky_inverse(L, upper=upper)


__all__: list[str] = []
