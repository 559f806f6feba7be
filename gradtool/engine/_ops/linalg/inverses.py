"""Inverses of matrices, and what they are needed for: systems of linear equations.

The formulas for the gradients are those of the differential ``d(A⁻¹) = -A⁻¹ dA A⁻¹``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtool.device import module_of
from gradtool.device.differences import solved
from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dtype_support import FACTORED
from gradtool.engine._ops.core.kinds import constant, general
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.linalg.elimination import eliminated, solved_or_infinite, substituted
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import (
    check_dtypes,
    check_extents,
    check_info,
    check_systems,
    identity,
    is_vector_for,
    of_matrices,
    require_floats,
    require_square,
    require_two_dims,
)
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import tril, triu
from gradtool.engine._ops.shape.expansion import broadcast_shapes
from gradtool.engine._tensor import Tensor

# ---- inverse and solution -------------------------------------------------------------------


def _inverse(name: str, compute: Any) -> Primitive:
    return general(
        "linalg_inv_ex", of_matrices(name, compute),
        lambda g, out: -matmul(matmul(adjoint(out), g), adjoint(out)),
        dtypes=FACTORED, batch=broadcasting,
    )  # fmt: skip


def _inverse_or_infinite(x: Any) -> Any:
    return solved_or_infinite(x, identity(x))


_inv = _inverse("linalg.inv", lambda x: np.linalg.inv(x))
_inv_or_infinite = _inverse("linalg.inv_ex", _inverse_or_infinite)


def _solution_by_matrix(g: Tensor, x: Tensor, out: Tensor, x_shape: Any) -> Tensor:
    return -matmul(_solve(adjoint(x), g), adjoint(out)).sum_to_size(x_shape)


def _solution(name: str, compute: Any) -> Primitive:
    return general(
        "linalg_solve_ex", of_matrices(name, compute),
        _solution_by_matrix,
        lambda g, x, y_shape: _solve(adjoint(x), g).sum_to_size(y_shape),
        dtypes=FACTORED, batch=broadcasting,
    ).keeping("out")  # fmt: skip


_solve: Primitive = _solution("torch.linalg.solve", lambda x, y: solved(x, y))
_solve_or_infinite = _solution("torch.linalg.solve_ex", solved_or_infinite)


def _singular_at(x: Any) -> Any:
    """The number, from 1, of the first pivot that is zero, or zero."""
    if not (np.linalg.slogdet(x)[0] == 0).any():
        return module_of(x).zeros(x.shape[:-2], dtype=np.int32)
    missing = eliminated(x, pivoting=True)[0].diagonal(axis1=-2, axis2=-1) == 0
    return np.where(missing.any(-1), missing.argmax(-1) + 1, 0).astype(np.int32)


singular_at = constant(
    "singular_at", of_matrices("linalg.solve_ex", _singular_at), dtypes=FACTORED, batch=broadcasting
)


def inv(A: Tensor) -> Tensor:  # noqa: N803 - torch's name
    """The inverse of a square matrix.

    Raises:
        LinAlgError: it is singular.
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "linalg.inv")
    return _inv(A)


inverse = op(inv, name="inverse", method=True)


@return_type("linalg_inv_ex")
class LinalgInvEx(NamedTuple):
    """An inverse, and zero where there is one."""

    inverse: Tensor
    info: Tensor


def inv_ex(A: Tensor, *, check_errors: bool = False) -> LinalgInvEx:  # noqa: N803
    """The inverse, infinite where there is none, and the first pivot that is zero, from 1, if any.

    Raises:
        LinAlgError: `check_errors`, and a matrix is singular.
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "linalg.inv")
    info = singular_at(A)
    if check_errors:
        check_info("linalg.inv_ex", info)
    return LinalgInvEx(_inv_or_infinite(A), info)


@node_name("LinalgSolveExBackward0")
@of_own_memory
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:  # noqa: N803
    """X with ``A X = B``, or with ``X A = B`` where not `left`. B may be a vector of each batch.

    Raises:
        LinAlgError: A is singular.
        RuntimeError: A is no square matrix, or the extents or dtypes do not fit.
    """
    return _solved(_solve, A, B, left)


@return_type("linalg_solve_ex")
class LinalgSolveEx(NamedTuple):
    """A solution, and zero where the matrix is not singular."""

    result: Tensor
    info: Tensor


def solve_ex(
    A: Tensor,  # noqa: N803
    B: Tensor,  # noqa: N803
    *,
    left: bool = True,
    check_errors: bool = False,
) -> LinalgSolveEx:
    """`solve`, infinite where A is singular, and the first pivot that is zero, from 1, if any.

    Raises:
        LinAlgError: `check_errors`, and A is singular.
        RuntimeError: A is no square matrix, or the extents or dtypes do not fit.
    """
    result = _solved(_solve_or_infinite, A, B, left)
    info = singular_at(A if left else A.mT)
    if check_errors:
        check_info("torch.linalg.solve_ex", info)
    return LinalgSolveEx(result, info)


def _solved(primitive: Primitive, x: Tensor, y: Tensor, left: bool) -> Tensor:
    require_square(x, "linalg.solve")
    check_dtypes("linalg.solve", x, y)
    if not is_vector_for(x, y):
        check_extents("linalg.solve", x, y, left)
        return primitive(x, y) if left else primitive(x.mT, y.mT).mT
    if not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not "
            "supported for left=False. In this case linalg.solve is equivalent "
            "to B / A.squeeze(-1)"
        )
    check_extents("linalg.solve", x, y.unsqueeze(-1), left)
    solution: Tensor = primitive(x, y.unsqueeze(-1)).squeeze(-1)
    return solution


# ---- triangles ------------------------------------------------------------------------------


def _of_triangle(x: Any, y: Any, *, upper: bool, unitriangular: bool) -> Any:
    triangle = (np.triu if upper else np.tril)(x, _diagonal_offset(upper, unitriangular))
    if unitriangular:
        triangle = triangle + identity(x)
    return substituted(triangle, y, upper=upper)


def _triangle_vjp(
    g: Tensor, x: Tensor, out: Tensor, upper: bool, unitriangular: bool, x_shape: Any
) -> Tensor:
    solved = _solve_triangle(adjoint(x), g, upper=not upper, unitriangular=unitriangular)
    gradient = -matmul(solved, adjoint(out)).sum_to_size(x_shape)
    return (triu if upper else tril)(gradient, _diagonal_offset(upper, unitriangular))


def _right_side_vjp(g: Tensor, x: Tensor, upper: bool, unitriangular: bool, y_shape: Any) -> Tensor:
    solved = _solve_triangle(adjoint(x), g, upper=not upper, unitriangular=unitriangular)
    return solved.sum_to_size(y_shape)


def _diagonal_offset(upper: bool, unitriangular: bool) -> int:
    """The outermost diagonal to keep: the main one, or the next."""
    return 0 if not unitriangular else 1 if upper else -1


_solve_triangle: Primitive = general(
    "linalg_solve_triangular",
    of_matrices("linalg.solve_triangular", _of_triangle),
    _triangle_vjp,
    _right_side_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
).keeping("out")


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

    An element of the diagonal that is zero makes infinities.

    Raises:
        RuntimeError: A is no square matrix, or the extents or dtypes do not fit.
    """
    name = "linalg.solve_triangular"
    check_dtypes(name, A, B)
    require_two_dims(A, name)
    require_square(A, name)
    check_extents(name, A, B, left)
    if left:
        return _solve_triangle(A, B, upper=upper, unitriangular=unitriangular)
    return _solve_triangle(A.mT, B.mT, upper=not upper, unitriangular=unitriangular).mT


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
    """`solve_triangular` under its old name and order of arguments.

    Raises:
        RuntimeError: A is no square matrix, or the extents or dtypes do not fit.
    """
    for name, each in (("b", b), ("A", A)):
        if each.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it "
                f"has {each.ndim} dimensions instead"
            )
    check_systems("triangular_solve", b, A)
    require_floats(A, "linalg.solve_triangular")
    matrix, kind = (A.mT, not upper) if transpose else (A, upper)
    solution = _solve_triangle(matrix, b, upper=kind, unitriangular=unitriangular)
    batch = broadcast_shapes(A.shape[:-2], b.shape[:-2])
    return TriangularSolve(solution, A.expand(*batch, *A.shape[-2:]).clone())
