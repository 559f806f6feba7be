"""Eigenvalues and eigenvectors, of Hermitian matrices and of any square ones.

Vectors have norm one, which leaves their sign or phase open: a gradient is right for what does not
depend on it. Sources of the formulas: Giles, "Collected Matrix Derivative Results for Forward and
Reverse Mode Algorithmic Differentiation", 2008; Boeddeker, Hanebrink, Drude, Heymann and
Haeb-Umbach, "On the Computation of Complex-valued Gradients with Application to Statistically
Optimum Beamforming", 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import FACTORED
from gradtool.engine._ops.core.kinds import conjugate, general
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.linalg.inverses import solve
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import (
    divided,
    identity_like,
    of_matrices,
    packed,
    packed_tensors,
    require_no_phase,
    require_square,
    unpacked,
)
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import diag_embed
from gradtool.engine._tensor import Tensor

_PHASE_OF_EIGENVECTORS = (
    "linalg_eigh_backward: The eigenvectors in the complex case are specified up to "
    "multiplication by e^{i phi}. The specified loss function depends on this quantity, so it is "
    "ill-defined."
)

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
    inner = divided((turned - adjoint(turned)) * 0.5, gaps) + diag_embed(g_values)
    return matmul(matmul(vectors, inner), adjoint(vectors))


def _eigen_hermitian_jvp(tangents: Sequence[Any], out: Tensor, x_shape: Ints) -> Tensor:
    """As in PyTorch, the change of a matrix is taken for Hermitian as it is."""
    values, vectors = _eigen_factors(out, x_shape[-1])
    turned = matmul(matmul(adjoint(vectors), tangents[0]), vectors)
    one = identity_like(values)
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1) + one
    change = matmul(vectors, divided(turned * (1 - one), gaps))
    of_values = real(turned.diagonal(0, -2, -1)).to(out.dtype)
    return packed_tensors((of_values, 1), (change, 2))


_eigh = general(
    "linalg_eigh",
    of_matrices("linalg.eigh", _eigen_hermitian),
    _eigen_hermitian_vjp,
    jvp=_eigen_hermitian_jvp,
    dtypes=FACTORED,
    batch=broadcasting,
)


@return_type("linalg_eigh")
class LinalgEigh(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@node_name("LinalgEighBackward0")
@of_own_memory
def eigh(A: Tensor, UPLO: str = "L") -> LinalgEigh:  # noqa: N803
    """Eigenvalues and eigenvectors of a Hermitian matrix, of which one triangle is looked at.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "linalg.eigh")
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return LinalgEigh(*_eigen_factors(_eigh(A, UPLO=UPLO.upper()), A.shape[-1]))


@node_name("LinalgEighBackward0")
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:  # noqa: N803
    """The eigenvalues of a Hermitian matrix, in ascending order."""
    return eigh(A, UPLO).eigenvalues


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
    if not np.isfinite(x).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
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
    "linalg_eig", of_matrices("linalg.eig", _eigen), _eigen_vjp, dtypes=FACTORED, batch=broadcasting
)


@return_type("linalg_eig")
class LinalgEig(NamedTuple):
    """Eigenvalues in no particular order, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@node_name("LinalgEigBackward0")
@of_own_memory
def eig(A: Tensor) -> LinalgEig:  # noqa: N803 - torch's name
    """Eigenvalues, in no particular order, and eigenvectors as columns of norm one.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "linalg.eig")
    both = _eig(A)
    return LinalgEig(*unpacked(both, *_extents(both)))


def eigvals(A: Tensor) -> Tensor:  # noqa: N803
    """The eigenvalues, in no particular order."""
    require_square(A, "linalg.eigvals")
    return eig(A).eigenvalues


"""Under their own names these are functions of ``torch.linalg``."""
