"""Determinants, their logarithms, and the exponential of a matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtool.device import module_of
from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dtype_support import FACTORED
from gradtool.engine._ops.core.kinds import conjugate, general
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.return_types import return_type
from gradtool.engine._ops.creation.creation import zeros_like
from gradtool.engine._ops.elementwise.elementwise import log
from gradtool.engine._ops.linalg.inverses import inv
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import of_matrices, require_square
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor

# ---- determinants ----------------------------------------------------------------------------
#
# By Jacobi's formula ``d det(A) = tr(adj(A) dA)``, where ``adj(A) = det(A) A⁻¹`` is the adjugate,
# which exists for singular matrices too.


def _per_matrix(numbers: Tensor) -> Tensor:
    """One number for each matrix, to multiply the matrices with."""
    return numbers.unsqueeze(-1).unsqueeze(-1)


def _products_of_others(x: Any) -> Any:
    """For each element of the last dimension the product of the others."""
    ones = np.ones_like(x[..., :1])
    before = np.concatenate([ones, np.cumprod(x[..., :-1], axis=-1)], axis=-1)
    after = np.concatenate([ones, np.cumprod(x[..., :0:-1], axis=-1)], axis=-1)
    return before * after[..., ::-1]


def _turned(x: Any) -> Any:
    return x.conj().swapaxes(-2, -1)


def _singular(x: Any) -> tuple[Any, Any, Any, Any]:
    """Singular vectors and values, and the determinant's phase."""
    left, values, right = np.linalg.svd(x)
    phase = np.linalg.det(left) * np.linalg.det(right)
    return left, values, right, phase[..., None, None]


def _adjugate_of(x: Any) -> Any:
    """From inverses, or where these lose digits or do not exist, from singular values."""
    if not x.size:
        return x.copy()
    try:
        inverse = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        return _adjugate_by_values(x)
    out = np.linalg.det(x)[..., None, None] * inverse
    condition = np.abs(x).max((-2, -1)) * np.abs(inverse).max((-2, -1))
    steep = ~(condition < float(np.finfo(x.dtype).eps) ** -0.25)
    if steep.any():
        out[steep] = _adjugate_by_values(x[steep])
    return out


def _adjugate_by_values(x: Any) -> Any:
    """From singular values: dividing by the determinant would fail where it is zero."""
    left, values, right, phase = _singular(x)
    scaled = _turned(right) * _products_of_others(values)[..., None, :]
    return phase * (scaled @ _turned(left))


def _adjugate_slope_of(x: Any, change: Any) -> Any:
    """Return the derivative of the adjugate along a change of the matrix.

    Of a diagonal matrix s, element (i, i) changes by the sum over k of ``c[k, k]`` times the
    product of all s but i and k; element (i, j) by ``-c[i, j]`` times that of all but i and j.
    """
    left, values, right, phase = _singular(x)
    core = _turned(left) @ change @ _turned(right)
    size = values.shape[-1]
    diagonal = module_of(values).eye(size, dtype=bool)
    without_one = np.where(diagonal, 1, values[..., None, :])
    without_two = np.where(diagonal, 0, _products_of_others(without_one))
    along = without_two @ np.where(diagonal, core, 0).sum(-1, keepdims=True)
    slope = np.where(diagonal, along, -without_two * core)
    return phase * (_turned(right) @ slope @ _turned(left))


def _slope_vjp(g: Tensor, x: Tensor, change: Tensor, x_shape: Any) -> Tensor:
    """The third derivative, by inverses: a singular matrix has none here."""
    inverse, turned = inv(x), adjoint(g)
    by_change, by_turned = matmul(inverse, change), matmul(inverse, turned)
    both, traces = matmul(by_change, by_turned), [_trace(by_change), _trace(by_turned)]
    whole = traces[0] * traces[1] - _trace(both)
    mixed = matmul(both, inverse) + matmul(matmul(by_turned, by_change), inverse)
    parts = traces[1] * matmul(by_change, inverse) + traces[0] * matmul(by_turned, inverse)
    rate = _per_matrix(det(x)) * (whole * inverse - parts + mixed)
    return adjoint(rate).sum_to_size(x_shape)


def _trace(x: Tensor) -> Tensor:
    return _per_matrix(x.diagonal(0, -2, -1).sum(-1))


_adjugate_slope: Primitive = general(
    "adjugate_slope",
    of_matrices("linalg.det", _adjugate_slope_of),
    _slope_vjp,
    lambda g, x, change_shape: adjoint(_adjugate_slope(x, adjoint(g))).sum_to_size(change_shape),
    dtypes=FACTORED,
    batch=broadcasting,
)
_adjugate = general(
    "adjugate",
    of_matrices("linalg.det", _adjugate_of),
    lambda g, x: adjoint(_adjugate_slope(x, adjoint(g))),
    dtypes=FACTORED,
    batch=broadcasting,
)
_det = general(
    "linalg_det",
    of_matrices("linalg.det", lambda x: np.linalg.det(x)),
    lambda g, x: _per_matrix(g) * adjoint(_adjugate(x)),
    dtypes=FACTORED,
    batch=broadcasting,
).keeping("out")


@op(method=True)
def det(A: Tensor) -> Tensor:  # noqa: N803 - torch's name
    """The determinant of a square matrix.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "linalg.det")
    return _det(A)


# ---- logarithms of determinants --------------------------------------------------------------


def _sign_vjp(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """A phase turns by the imaginary part of ``tr(A⁻¹ dA)``; a sign does not change."""
    if not x.is_complex():
        return x.detach() * 0
    turn = (g * conjugate(out)).imag * 1j
    gradient: Tensor = _per_matrix(turn) * adjoint(inv(x))
    return gradient


_sign = general(
    "slogdet",
    of_matrices("linalg.slogdet", lambda x: np.linalg.slogdet(x)[0]),
    _sign_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)
_logarithm = general(
    "slogdet",
    of_matrices("linalg.slogdet", lambda x: np.linalg.slogdet(x)[1]),
    lambda g, x: _per_matrix(g) * adjoint(inv(x)),
    dtypes=FACTORED,
    batch=broadcasting,
)


@return_type("slogdet")
class Slogdet(NamedTuple):
    """Sign, or phase, of a determinant, and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


@op(method=True)
def slogdet(A: Tensor) -> Slogdet:  # noqa: N803
    """The sign of the determinant, a phase where it is complex, and its magnitude's logarithm.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "linalg.slogdet")
    return Slogdet(_sign(A), _logarithm(A))


@return_type("linalg_slogdet")
class LinalgSlogdet(NamedTuple):
    """Sign, or phase, of a determinant, and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


@node_name("LinalgSlogdetBackward0")
def linalg_slogdet_of(A: Tensor) -> LinalgSlogdet:  # noqa: N803
    """`slogdet`, as ``torch.linalg`` names its result."""
    return LinalgSlogdet(*slogdet(A))


@op(method=True)
def logdet(A: Tensor) -> Tensor:  # noqa: N803
    """The logarithm of the determinant: NaN where that is negative, -inf where it is zero.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "logdet")
    sign, magnitude = slogdet(A)
    return log(sign) + magnitude


# ---- the matrix exponential ------------------------------------------------------------------
#
# By scaling, a rational approximation and squaring: Higham, "The Scaling and Squaring Method for
# the Matrix Exponential Revisited", 2005. Its derivative is a block of the exponential of a matrix
# twice as large: Mathias, "A Chain Rule for Matrix Functions and Applications", 1996.


_PADE = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
    10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
_REACH = 5.371920351148152
"""Up to this norm the approximation of degree 13 is exact to rounding in double precision."""


def _exponential(x: Any) -> Any:
    if 0 in x.shape:
        return x.copy()
    norm = np.abs(x).sum(axis=-2).max(axis=-1)[..., None, None]
    halvings = np.ceil(np.log2(np.maximum(norm / _REACH, 1)))
    halvings = np.where(np.isfinite(halvings), halvings, 0)
    out = _rational(x / (2.0**halvings).astype(norm.dtype))
    for done in range(int(halvings.max())):
        out = np.where(halvings > done, out @ out, out)
    return out.astype(x.dtype)


def _rational(x: Any) -> Any:
    """The diagonal Padé approximation of degree 13."""
    one = module_of(x).eye(x.shape[-1], dtype=x.dtype) + np.zeros_like(x)
    powers = [one, x @ x]
    for _ in range(5):
        powers.append(powers[-1] @ powers[1])
    even = sum([c * power for c, power in zip(_PADE[0::2], powers)])
    odd = x @ sum([c * power for c, power in zip(_PADE[1::2], powers)])
    return np.linalg.solve(even - odd, even + odd)


def _exponential_vjp(g: Tensor, x: Tensor) -> Tensor:
    extent = x.shape[-1]
    transposed = adjoint(x)
    above = cat([transposed, g], -1)
    below = cat([zeros_like(transposed), transposed], -1)
    whole: Tensor = _matrix_exp(cat([above, below], -2))
    return whole.narrow(-2, 0, extent).narrow(-1, extent, extent)


_matrix_exp: Primitive = general(
    "linalg_matrix_exp",
    of_matrices("linalg.matrix_exp", _exponential),
    _exponential_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)


@op(method=True)
def matrix_exp(A: Tensor) -> Tensor:  # noqa: N803 - torch's name
    """The sum of ``A^k / k!`` over all k.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "linalg.matrix_exp")
    return _matrix_exp(A)
