"""Matrices as products: Cholesky, QR, eigenvalues, singular values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import FACTORED
from gradtool.engine._ops.core.kinds import conjugate, general
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.linalg.inverses import solve, solve_triangular
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import (
    divided,
    identity_like,
    of_matrices,
    packed,
    require_matrices,
    require_no_phase,
    require_square,
    unpacked,
)
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import diag_embed, tril, triu
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor

# Factors are not unique: eigenvectors may change sign or phase. A gradient is right for what does
# not depend on the choice. Sources of the formulas: Murray, "Differentiation of the Cholesky
# decomposition", 2016; Walter and Lehmann, "Algorithmic Differentiation of Linear Algebra
# Functions with Application in Optimum Experimental Design", 2010 (QR); Giles, "Collected Matrix
# Derivative Results for Forward and Reverse Mode Algorithmic Differentiation", 2008; Townsend,
# "Differentiating the Singular Value Decomposition", 2016.


_PHASE_OF_EIGENVECTORS = (
    "linalg_eigh_backward: The eigenvectors in the complex case are specified up to "
    "multiplication by e^{i phi}. The specified loss function depends on this quantity, so it is "
    "ill-defined."
)
_PHASE_OF_SINGULAR_VECTORS = (
    "svd_backward: The singular vectors in the complex case are specified up to multiplication "
    "by e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined."
)

# ---- Cholesky --------------------------------------------------------------------------------


def _cholesky_vjp(g: Tensor, out: Tensor) -> Tensor:
    """The Hermitian part, since a change of the matrix is Hermitian too."""
    lower_h = adjoint(out)
    inner = matmul(lower_h, g)
    halved = tril(inner) - diag_embed(inner.diagonal(0, -2, -1)) * 0.5
    symmetric = (halved + adjoint(halved)) * 0.5
    right = solve_triangular(out, symmetric, upper=False, left=False)
    return solve_triangular(lower_h, right, upper=True)


_cholesky = general(
    "linalg_cholesky",
    of_matrices("cholesky", lambda x: np.linalg.cholesky(x)),
    _cholesky_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)


@node_name("LinalgCholeskyExBackward0")
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:  # noqa: N803 - torch's name
    """The lower triangle L with ``A = L Lᴴ``, or its adjoint. Of A one triangle is looked at.

    Raises:
        LinAlgError: A is not positive definite.
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "cholesky")
    return adjoint(_cholesky(adjoint(A))) if upper else _cholesky(A)


# ---- QR --------------------------------------------------------------------------------------


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
    of_matrices("qr", _reduced_qr),
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
    "linalg_qr", of_matrices("qr", _full_qr), _no_full_qr_vjp, dtypes=FACTORED, batch=broadcasting
)


@return_type("linalg_qr")
class LinalgQR(NamedTuple):
    """Orthonormal columns, and the triangle that they make the matrix with."""

    Q: Tensor
    R: Tensor


@node_name("LinalgQrBackward0")
def qr(A: Tensor, mode: str = "reduced") -> LinalgQR:  # noqa: N803
    """Orthonormal Q and upper triangular R with ``A = Q R``.

    `mode` is ``reduced``, ``complete`` (Q is square) or ``r`` (Q is left empty). The gradient
    needs the first columns of A, as many as there are rows, to be independent.

    Raises:
        RuntimeError: there is no such mode, or A is no matrix of floating or complex numbers.
    """
    require_matrices(A, "qr")
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


# ---- eigenvalues of Hermitian matrices -------------------------------------------------------


def _eigen_hermitian(x: Any, *, UPLO: Any) -> Any:  # noqa: N803
    values, vectors = np.linalg.eigh(x, UPLO=UPLO)
    return packed(x.dtype, (values, 1), (vectors, 2))


def _eigen_factors(x: Tensor, extent: int) -> tuple[Tensor, Tensor]:
    values, vectors = unpacked(x, (extent,), (extent, extent))
    return real(values), vectors


def _eigen_hermitian_vjp(g: Tensor, out: Tensor, x_shape: Ints) -> Tensor:
    values, vectors = _eigen_factors(out, x_shape[-1])
    g_values, g_vectors = _eigen_factors(g, x_shape[-1])
    one = identity_like(values)
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1) + one
    turned = matmul(adjoint(vectors), g_vectors)
    phases = require_no_phase(turned.diagonal(0, -2, -1), message=_PHASE_OF_EIGENVECTORS)
    turned = turned - diag_embed(phases)
    inner = divided(turned, gaps) + diag_embed(g_values)
    return matmul(matmul(vectors, inner), adjoint(vectors))


_eigh = general(
    "linalg_eigh",
    of_matrices("eigh", _eigen_hermitian),
    _eigen_hermitian_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)


@return_type("linalg_eigh")
class LinalgEigh(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@node_name("LinalgEighBackward0")
def eigh(A: Tensor, UPLO: str = "L") -> LinalgEigh:  # noqa: N803
    """Eigenvalues and eigenvectors of a Hermitian matrix, of which one triangle is looked at.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "eigh")
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return LinalgEigh(*_eigen_factors(_eigh(A, UPLO=UPLO.upper()), A.shape[-1]))


@node_name("LinalgEighBackward0")
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:  # noqa: N803
    """The eigenvalues of a Hermitian matrix, in ascending order."""
    return eigh(A, UPLO).eigenvalues


# ---- singular values -------------------------------------------------------------------------


def _svd_shapes(shape: Ints, full: bool) -> tuple[Ints, Ints, Ints]:
    rows, columns = shape[-2:]
    count = min(rows, columns)
    left, right = (rows, columns) if full else (count, count)
    return (rows, left), (count,), (right, columns)


def _singular(x: Any, *, full: bool) -> Any:
    left, values, right = np.linalg.svd(x, full_matrices=full)
    return packed(x.dtype, (left, 2), (values, 1), (right, 2))


def _svd_factors(x: Tensor, shape: Ints, full: bool) -> tuple[Tensor, Tensor, Tensor]:
    left, values, right = unpacked(x, *_svd_shapes(shape, full))
    return left, real(values), right


def _svd_vjp(g: Tensor, out: Tensor, x_shape: Ints, full: bool) -> Tensor:
    """By the vectors that belong to singular values; the others only complete a basis."""
    count = min(x_shape[-2:])
    left, values, right = _leading(_svd_factors(out, x_shape, full), count)
    g_left, g_values, g_right = _leading(_svd_factors(g, x_shape, full), count)
    by_left = matmul(adjoint(left), g_left)
    by_right = matmul(right, adjoint(g_right))
    inner = _turned(by_left - adjoint(by_left), by_right - adjoint(by_right), values)
    gradient = matmul(matmul(left, inner + diag_embed(g_values)), right)
    if x_shape[-2] > count:
        leaving = divided(g_left - matmul(left, by_left), values.unsqueeze(-2))
        gradient = gradient + matmul(leaving, right)
    if x_shape[-1] > count:
        leaving = divided(g_right - matmul(adjoint(by_right), right), values.unsqueeze(-1))
        gradient = gradient + matmul(left, leaving)
    return gradient


def _leading(factors: tuple[Tensor, Tensor, Tensor], count: int) -> tuple[Tensor, Tensor, Tensor]:
    left, values, right = factors
    return left.narrow(-1, 0, count), values, right.narrow(-2, 0, count)


def _turned(by_left: Tensor, by_right: Tensor, values: Tensor) -> Tensor:
    """Return the gradient of rotations among the vectors, given skew-Hermitian gradients."""
    squares = values * values
    gaps = squares.unsqueeze(-2) - squares.unsqueeze(-1) + identity_like(values)
    inner = divided(by_left, gaps) * values.unsqueeze(-2)
    inner = inner + divided(by_right, gaps) * values.unsqueeze(-1)
    if not by_left.is_complex():
        return inner
    of_left, of_right = (each.diagonal(0, -2, -1) for each in (by_left, by_right))
    phases = require_no_phase((of_left + of_right) * 0.5, message=_PHASE_OF_SINGULAR_VECTORS)
    return inner + diag_embed(divided(of_left - phases, values * 2))


_svd = general(
    "linalg_svd", of_matrices("svd", _singular), _svd_vjp, dtypes=FACTORED, batch=broadcasting
)


@return_type("linalg_svd")
class LinalgSVD(NamedTuple):
    """Singular values in descending order, between singular vectors: columns, then rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


@node_name("LinalgSvdBackward0")
def svd(A: Tensor, full_matrices: bool = True) -> LinalgSVD:  # noqa: N803
    """Singular values S and vectors with ``A = U diag(S) Vh``.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers.
    """
    require_matrices(A, "svd")
    return LinalgSVD(*_svd_factors(_svd(A, full=full_matrices), A.shape, full_matrices))


@node_name("LinalgSvdBackward0")
def svdvals(A: Tensor) -> Tensor:  # noqa: N803
    """The singular values, in descending order."""
    return svd(A, full_matrices=False).S


# ---- eigenvalues of any square matrix --------------------------------------------------------
#
# Vectors have norm one, which leaves their phase open: a gradient is right for what does not
# depend on it. Source of the formula: Boeddeker, Hanebrink, Drude, Heymann and Haeb-Umbach, "On
# the Computation of Complex-valued Gradients with Application to Statistically Optimum
# Beamforming", 2017.


_PHASE = (
    "linalg_eig_backward: The eigenvectors in the complex case are specified up to "
    "multiplication by e^{i phi}. The specified loss function depends on this quantity, so it is "
    "ill-defined."
)


def _eigen(x: Any) -> Any:
    values, vectors = np.linalg.eig(x)
    return packed(np.result_type(x.dtype, np.complex64), (values, 1), (vectors, 2))


def _eigen_vjp(g: Tensor, out: Tensor, x_dtype: _dtypes.dtype) -> Tensor:
    """Turning the vectors takes gaps between values; what would change their norm is taken off."""
    extents = _extents(out)
    (values, vectors), (g_values, g_vectors) = unpacked(out, *extents), unpacked(g, *extents)
    turned = matmul(adjoint(vectors), g_vectors)
    lengths = real(require_no_phase(turned.diagonal(0, -2, -1), message=_PHASE))
    turned = turned - matmul(adjoint(vectors), vectors * lengths.unsqueeze(-2))
    one = identity_like(values)
    gaps = conjugate(values.unsqueeze(-2) - values.unsqueeze(-1)) + one
    inner = divided(turned * (1 - one), gaps) + diag_embed(g_values)
    gradient = solve(adjoint(vectors), matmul(inner, adjoint(vectors)))
    return gradient if x_dtype.is_complex else real(gradient)


def _extents(x: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of values and vectors, from the number ``n + n²`` of their elements."""
    extent = int((4 * x.shape[-1] + 1) ** 0.5) // 2
    return (extent,), (extent, extent)


_eig = general(
    "linalg_eig", of_matrices("eig", _eigen), _eigen_vjp, dtypes=FACTORED, batch=broadcasting
)


@return_type("linalg_eig")
class LinalgEig(NamedTuple):
    """Eigenvalues in no particular order, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@node_name("LinalgEigBackward0")
def eig(A: Tensor) -> LinalgEig:  # noqa: N803 - torch's name
    """Eigenvalues, in no particular order, and eigenvectors as columns of norm one.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "eig")
    both = _eig(A)
    return LinalgEig(*unpacked(both, *_extents(both)))


def eigvals(A: Tensor) -> Tensor:  # noqa: N803
    """The eigenvalues, in no particular order."""
    return eig(A).eigenvalues


__all__: list[str] = []
"""Under their own names these are functions of ``torch.linalg``."""
