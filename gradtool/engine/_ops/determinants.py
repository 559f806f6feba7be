"""Determinants, and their logarithms.

By Jacobi's formula ``d det(A) = tr(adj(A) dA)``, where ``adj(A) = det(A) A⁻¹`` is the adjugate,
which exists for singular matrices too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine._ops._kinds import conjugate, general
from gradtool.engine._ops._matrices import of_matrices, require_square
from gradtool.engine._ops.axes import adjoint
from gradtool.engine._ops.elementwise import log
from gradtool.engine._ops.inverses import inv
from gradtool.engine._ops.linalg import matmul
from gradtool.engine._ops.matrix_types import linalg_slogdet
from gradtool.engine._ops.matrix_types import slogdet as signed_logarithm
from gradtool.engine._tensor import Tensor


def _per_matrix(numbers: Tensor) -> Tensor:
    """One number for each matrix, to multiply the matrices with."""
    return numbers.unsqueeze(-1).unsqueeze(-1)


# ---- the determinant ------------------------------------------------------------------------


def _products_of_others(x: Any) -> Any:
    """For each element of the last dimension the product of the others."""
    ones = np.ones_like(x[..., :1])
    before = np.concatenate([ones, np.cumprod(x[..., :-1], axis=-1)], axis=-1)
    after = np.concatenate([ones, np.cumprod(x[..., :0:-1], axis=-1)], axis=-1)
    return before * after[..., ::-1]


def _adjugate_of(x: Any) -> Any:
    """From singular values: dividing by the determinant would fail where it is zero."""
    left, values, right = np.linalg.svd(x)
    phase = np.linalg.det(left) * np.linalg.det(right)
    scaled = right.conj().swapaxes(-2, -1) * _products_of_others(values)[..., None, :]
    return phase[..., None, None] * (scaled @ left.conj().swapaxes(-2, -1))


def _adjugate_vjp(g: Tensor, x: Tensor) -> Tensor:
    """Of ``det(A) A⁻¹``; a singular matrix has no second derivative here."""
    inverse_h, determinant = adjoint(inv(x)), conjugate(det(x))
    by_determinant = (g * conjugate(inv(x))).sum((-2, -1))
    by_inverse = matmul(matmul(inverse_h, g), inverse_h)
    gradient: Tensor = _per_matrix(determinant) * (
        _per_matrix(by_determinant) * inverse_h - by_inverse
    )
    return gradient


_adjugate = general("adjugate", of_matrices("det", _adjugate_of), _adjugate_vjp)
_det = general(
    "linalg_det",
    of_matrices("det", lambda x: np.linalg.det(x)),
    lambda g, x: _per_matrix(g) * adjoint(_adjugate(x)),
)


def det(A: Tensor) -> Tensor:  # noqa: N803 - torch's name
    """The determinant of a square matrix.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "det")
    return _det(A)


# ---- its logarithm --------------------------------------------------------------------------


def _sign_vjp(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """A phase turns by the imaginary part of ``tr(A⁻¹ dA)``; a sign does not change."""
    if not x.is_complex():
        return x.detach() * 0
    turn = (g * conjugate(out)).imag * 1j
    gradient: Tensor = _per_matrix(turn) * adjoint(inv(x))
    return gradient


_sign = general("slogdet", of_matrices("slogdet", lambda x: np.linalg.slogdet(x)[0]), _sign_vjp)
_logarithm = general(
    "slogdet",
    of_matrices("slogdet", lambda x: np.linalg.slogdet(x)[1]),
    lambda g, x: _per_matrix(g) * adjoint(inv(x)),
)


def slogdet(A: Tensor) -> signed_logarithm:  # noqa: N803
    """The sign of the determinant, a phase where it is complex, and its magnitude's logarithm.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "slogdet")
    return signed_logarithm(_sign(A), _logarithm(A))


def linalg_slogdet_of(A: Tensor) -> linalg_slogdet:  # noqa: N803
    """`slogdet`, as ``torch.linalg`` names its result."""
    return linalg_slogdet(*slogdet(A))


def logdet(A: Tensor) -> Tensor:  # noqa: N803
    """The logarithm of the determinant: NaN where that is negative, -inf where it is zero.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    sign, magnitude = slogdet(A)
    return log(sign) + magnitude


METHODS = {
    "det": det,
    "logdet": logdet,
    "slogdet": slogdet,
}
"""What is a method of tensors too."""

__all__ = ["det", "logdet", "slogdet"]
