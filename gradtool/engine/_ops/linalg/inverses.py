"""Inverses of matrices, and what they are needed for: systems of linear equations.

The formulas for the gradients are those of the differentials ``d(A⁻¹) = -A⁻¹ dA A⁻¹`` and, for
the pseudoinverse, of Golub and Pereyra, "The Differentiation of Pseudo-Inverses and Nonlinear
Least Squares Problems Whose Variables Separate", 1973.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dtype_support import FACTORED
from gradtool.engine._ops.core.kinds import general
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.creation.creation import zeros
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import (
    LinAlgError,
    identity_like,
    of_matrices,
    require_matrices,
    require_square,
)
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import tril, triu
from gradtool.engine._ops.shape.expansion import broadcast_shapes
from gradtool.engine._tensor import Tensor

# ---- inverse and solution -------------------------------------------------------------------

_inv = general(
    "linalg_inv",
    of_matrices("inv", lambda x: np.linalg.inv(x)),
    lambda g, out: -matmul(matmul(adjoint(out), g), adjoint(out)),
    dtypes=FACTORED,
    batch=broadcasting,
)


def _solution_by_matrix(g: Tensor, x: Tensor, out: Tensor, x_shape: Any) -> Tensor:
    return -matmul(_solve(adjoint(x), g), adjoint(out)).sum_to_size(x_shape)


_solve: Primitive = general(
    "linalg_solve",
    of_matrices("solve", lambda x, y: np.linalg.solve(x, y)),
    _solution_by_matrix,
    lambda g, x, y_shape: _solve(adjoint(x), g).sum_to_size(y_shape),
    dtypes=FACTORED,
    batch=broadcasting,
)


@node_name("LinalgInvExBackward0")
def inv(A: Tensor) -> Tensor:  # noqa: N803 - torch's name
    """The inverse of a square matrix.

    Raises:
        LinAlgError: it is singular.
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "inv")
    return _inv(A)


inverse = op(inv, name="inverse", method=True)


@return_type("linalg_inv_ex")
class LinalgInvEx(NamedTuple):
    """An inverse, and zero where there is one."""

    inverse: Tensor
    info: Tensor


def inv_ex(A: Tensor, *, check_errors: bool = False) -> LinalgInvEx:  # noqa: N803
    """The inverse and, where there is none and errors are not asked for, NaN and one."""
    info = zeros(tuple(A.shape[:-2]), dtype=_dtypes.int32)
    try:
        return LinalgInvEx(inv(A), info)
    except LinAlgError:
        if check_errors:
            raise
        return LinalgInvEx(A.new_full(A.shape, float("nan")), info + 1)


@node_name("LinalgSolveExBackward0")
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:  # noqa: N803
    """X with ``A X = B``, or with ``X A = B`` where not `left`. B may be a vector of each batch.

    Raises:
        LinAlgError: A is singular.
        RuntimeError: A is no square matrix, or the extents or dtypes do not fit.
    """
    require_square(A, "solve")
    _check_dtypes("solve", A, B)
    if B.ndim == 1 or (A.ndim - 1 == B.ndim and A.shape[:-1] == B.shape):
        if not left:
            raise RuntimeError(
                "linalg.solve: Vector broadcasting of the left hand side is not "
                "supported for left=False. In this case linalg.solve is equivalent "
                "to B / A.squeeze(-1)"
            )
        _check_extents("solve", A, B.unsqueeze(-1), left)
        return _solve(A, B.unsqueeze(-1)).squeeze(-1)
    _check_extents("solve", A, B, left)
    return _solve(A, B) if left else _solve(A.mT, B.mT).mT


def _check_dtypes(name: str, x: Tensor, y: Tensor) -> None:
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"linalg.{name}: Expected A and B to have the same dtype, but found A of type "
            f"{x.dtype} and B of type {y.dtype} instead"
        )


def _check_extents(name: str, x: Tensor, y: Tensor, left: bool) -> None:
    if y.ndim < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor B must have at least 2 dimensions.")
    broadcast_shapes(x.shape[:-2], y.shape[:-2])
    if y.shape[-2 if left else -1] != x.shape[-1]:
        raise RuntimeError(
            f"linalg.{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({x.shape[-2]}x{x.shape[-1]} and "
            f"{y.shape[-2]}x{y.shape[-1]})"
        )


# ---- triangles ------------------------------------------------------------------------------


@node_name("LinalgSolveTriangularBackward0")
def solve_triangular(
    A: Tensor,  # noqa: N803
    B: Tensor,  # noqa: N803
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> Tensor:
    """`solve`, of which only one triangle of A is looked at; its diagonal may count as ones.

    Raises:
        LinAlgError: an element of the diagonal is zero.
        RuntimeError: A is no square matrix, or the extents or dtypes do not fit.
    """
    require_square(A, "solve_triangular")
    _check_dtypes("solve_triangular", A, B)
    _check_extents("solve_triangular", A, B, left)
    triangle = (triu if upper else tril)(A, _diagonal_offset(upper, unitriangular))
    if unitriangular:
        triangle = triangle + identity_like(A.diagonal(0, -2, -1))
    return _solve(triangle, B) if left else _solve(triangle.mT, B.mT).mT


def _diagonal_offset(upper: bool, unitriangular: bool) -> int:
    """The outermost diagonal to keep: the main one, or the next."""
    return 0 if not unitriangular else 1 if upper else -1


@return_type("triangular_solve")
class TriangularSolve(NamedTuple):
    """The solution of a triangular system, and a copy of its matrix."""

    solution: Tensor
    cloned_coefficient: Tensor


@op(method=True, node="TriangularSolveBackward0")
def triangular_solve(
    b: Tensor,
    A: Tensor,  # noqa: N803
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> TriangularSolve:
    """`solve_triangular` under its old name and order of arguments."""
    matrix, kind = (A.mT, not upper) if transpose else (A, upper)
    solution = solve_triangular(matrix, b, upper=kind, unitriangular=unitriangular)
    return TriangularSolve(solution, A.clone())


@op(method=True, node="CholeskySolveBackward0")
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:  # noqa: N803
    """X with ``L Lᴴ X = B``, or with ``Lᴴ L X = B`` for an upper triangle."""
    lower = adjoint(L) if upper else L
    halfway = solve_triangular(lower, B, upper=False)
    return solve_triangular(adjoint(lower), halfway, upper=True)


@op(method=True, node="CholeskyInverseBackward0")
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:  # noqa: N803
    """The inverse of the matrix with this triangle as its Cholesky factor."""
    return cholesky_solve(identity_like(L.diagonal(0, -2, -1)), L, upper)


# ---- pseudoinverse --------------------------------------------------------------------------


def _pseudoinverse(x: Any, *, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """By singular values, of which the small ones count as zero."""
    if hermitian:
        x = np.tril(x) + np.tril(x, -1).swapaxes(-2, -1).conj()
    left, values, right = np.linalg.svd(x, full_matrices=False)
    cutoff = np.maximum(atol, rtol * values[..., :1])  # the largest comes first
    large = values > cutoff
    inverses = np.where(large, 1 / np.where(large, values, 1), 0)
    return (right.conj().swapaxes(-2, -1) * inverses[..., None, :]) @ left.conj().swapaxes(-2, -1)


def _pseudoinverse_vjp(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """Within the row and column space as for an inverse, and what leaves these spaces."""
    inverse_h, g_h = adjoint(out), adjoint(g)
    along = -matmul(matmul(inverse_h, g), inverse_h)
    return along + _leaving_columns(g_h, x, out) + _leaving_rows(g_h, x, out)


def _leaving_columns(g_h: Tensor, x: Tensor, inverse: Tensor) -> Tensor:
    """``(I - A A⁺) gᴴ A⁺ A⁺ᴴ``."""
    onto = matmul(g_h, matmul(inverse, adjoint(inverse)))
    return onto - matmul(x, matmul(inverse, onto))


def _leaving_rows(g_h: Tensor, x: Tensor, inverse: Tensor) -> Tensor:
    """``A⁺ᴴ A⁺ gᴴ (I - A⁺ A)``."""
    onto = matmul(matmul(adjoint(inverse), inverse), g_h)
    return onto - matmul(matmul(onto, inverse), x)


_pinv = general(
    "linalg_pinv",
    of_matrices("pinv", _pseudoinverse),
    _pseudoinverse_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)


def pinv(
    A: Tensor,  # noqa: N803
    rcond: float | None = None,
    hermitian: bool = False,
    *,
    atol: float | None = None,
    rtol: float | None = None,
) -> Tensor:
    """The Moore-Penrose pseudoinverse.

    Singular values up to ``max(atol, rtol * largest)`` count as zero. `rcond` is the old name of
    `rtol`, which is by default the larger extent times the precision of the dtype, and zero
    where `atol` is given.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers.
    """
    require_matrices(A, "pinv")
    relative = rcond if rtol is None else rtol
    absolute, relative = tolerances(A, atol, relative)
    return _pinv(A, atol=absolute, rtol=relative, hermitian=hermitian)


pinverse = op(pinv, name="pinverse", method=True)


def tolerances(x: Tensor, atol: float | None, rtol: float | None) -> tuple[float, float]:
    """The defaults of PyTorch for what counts as a singular value of zero."""
    if rtol is None:
        rtol = 0.0 if atol else float(np.finfo(x._array.dtype).eps) * max(x.shape[-2:])
    return atol or 0.0, rtol
