"""The exponential of a matrix.

By scaling, a rational approximation and squaring: Higham, "The Scaling and Squaring Method for
the Matrix Exponential Revisited", 2005. Its derivative is a block of the exponential of a matrix
twice as large: Mathias, "A Chain Rule for Matrix Functions and Applications", 1996.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine._ops.core.kinds import general
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.creation.creation import zeros_like
from gradtool.engine._ops.linalg.matrices import of_matrices, require_square
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor

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
    "linalg_matrix_exp", of_matrices("matrix_exp", _exponential), _exponential_vjp
)


def matrix_exp(A: Tensor) -> Tensor:  # noqa: N803 - torch's name
    """The sum of ``A^k / k!`` over all k.

    Raises:
        RuntimeError: it is no square matrix of floating or complex numbers.
    """
    require_square(A, "matrix_exp")
    return _matrix_exp(A)


__all__ = ["matrix_exp"]
