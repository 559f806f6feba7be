"""Eigenvalues and eigenvectors of any square matrix; both are complex.

Vectors have norm one, which leaves their phase open: a gradient is right for what does not
depend on it. Source of the formula: Boeddeker, Hanebrink, Drude, Heymann and Haeb-Umbach, "On
the Computation of Complex-valued Gradients with Application to Statistically Optimum
Beamforming", 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.kinds import conjugate, general
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.linalg.inverses import solve
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import (
    divided,
    identity_like,
    of_matrices,
    packed,
    require_no_phase,
    require_square,
    unpacked,
)
from gradtool.engine._ops.linalg.matrix_types import linalg_eig
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import diag_embed
from gradtool.engine._tensor import Tensor

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


_eig = general("linalg_eig", of_matrices("eig", _eigen), _eigen_vjp)


def eig(A: Tensor) -> linalg_eig:  # noqa: N803 - torch's name
    """Eigenvalues, in no particular order, and eigenvectors as columns of norm one.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "eig")
    both = _eig(A)
    return linalg_eig(*unpacked(both, *_extents(both)))


def eigvals(A: Tensor) -> Tensor:  # noqa: N803
    """The eigenvalues, in no particular order."""
    return eig(A).eigenvalues


__all__: list[str] = []
"""Under their own names these are functions of ``torch.linalg``."""
