"""Matrices as orthonormal columns times a triangle.

Source of the gradient: Walter and Lehmann, "Algorithmic Differentiation of Linear Algebra Functions
with Application in Optimum Experimental Design", 2010.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import FACTORED
from gradtool.engine._ops.core.kinds import general
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.linalg.inverses import solve_triangular
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import of_matrices, packed, require_matrices, unpacked
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import diag_embed, triu
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor


def _qr_shapes(shape: Ints) -> tuple[Ints, Ints]:
    rows, columns = shape[-2:]
    inner = min(rows, columns)
    return (rows, inner), (inner, columns)


def _reduced_qr(x: Any) -> Any:
    q, r = np.linalg.qr(x)
    return packed(x.dtype, (q, 2), (r, 2))


def _reduced_qr_vjp(g: Tensor, out: Tensor, x_shape: Ints) -> Tensor:
    """For a matrix with at least as many rows as columns."""
    shapes = _qr_shapes(x_shape)
    (q, r), (g_q, g_r) = unpacked(out, *shapes), unpacked(g, *shapes)
    upper = triu(matmul(g_r, adjoint(r)) - matmul(adjoint(q), g_q))
    diagonal = diag_embed(real(upper.diagonal(0, -2, -1)))
    mirrored = upper + adjoint(upper) - diagonal
    return solve_triangular(adjoint(r), g_q + matmul(q, mirrored), upper=False, left=False)


_qr = general(
    "linalg_qr",
    of_matrices("linalg.qr", _reduced_qr),
    _reduced_qr_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)


def _full_qr(x: Any, *, mode: str) -> Any:
    q, r = np.linalg.qr(x, mode="complete" if mode == "complete" else "reduced")
    return packed(x.dtype, (q, 2), (r, 2))


def _no_full_qr_vjp(g: Tensor, mode: str) -> Tensor:
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use linalg.qr(A, mode='reduced') if you are going to differentiate through "
            "linalg.qr."
        )
    raise RuntimeError(
        "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
    )


_qr_without_derivative = general(
    "linalg_qr",
    of_matrices("linalg.qr", _full_qr),
    _no_full_qr_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)


@return_type("linalg_qr")
class LinalgQR(NamedTuple):
    """Orthonormal columns, and the triangle that they make the matrix with."""

    Q: Tensor
    R: Tensor


@node_name("LinalgQrBackward0")
@of_own_memory
def qr(A: Tensor, mode: str = "reduced") -> LinalgQR:  # noqa: N803
    """Orthonormal Q and upper triangular R with ``A = Q R``.

    `mode` is ``reduced``, ``complete`` (Q is square) or ``r`` (Q is left empty). The gradient
    needs the first columns of A, as many as there are rows, to be independent.

    Raises:
        RuntimeError: there is no such mode, or A is no matrix of floating or complex numbers.
    """
    require_matrices(A, "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    rows, columns = A.shape[-2:]
    if mode == "r":
        _, r = unpacked(_qr_without_derivative(A, mode=mode), *_qr_shapes(A.shape))
        return LinalgQR(A.new_empty((0,)), r)
    if mode == "complete" and rows > columns:
        both = _qr_without_derivative(A, mode=mode)
        return LinalgQR(*unpacked(both, (rows, rows), (rows, columns)))
    return _qr_of_wide(A, rows) if rows < columns else _qr_of_tall(A)


def _qr_of_tall(x: Tensor) -> LinalgQR:
    return LinalgQR(*unpacked(_qr(x), *_qr_shapes(x.shape)))


def _qr_of_wide(x: Tensor, rows: int) -> LinalgQR:
    """From the square matrix in front, whose Q takes the other columns along."""
    q, r = _qr_of_tall(x.narrow(-1, 0, rows))
    rest = matmul(adjoint(q), x.narrow(-1, rows, x.shape[-1] - rows))
    return LinalgQR(q, cat([r, rest], -1))
