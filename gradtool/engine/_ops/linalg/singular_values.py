"""Singular values and vectors.

Vectors may change sign or phase: a gradient is right for what does not depend on it. Source of
the formula: Townsend, "Differentiating the Singular Value Decomposition", 2016.
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
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.matrices import (
    divided,
    identity_like,
    of_matrices,
    packed,
    require_matrices,
    require_no_phase,
    unpacked,
)
from gradtool.engine._ops.shape.axes import adjoint
from gradtool.engine._ops.shape.diagonals import diag_embed
from gradtool.engine._tensor import Tensor

_PHASE_OF_SINGULAR_VECTORS = (
    "svd_backward: The singular vectors in the complex case are specified up to multiplication "
    "by e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined."
)


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
    """Return the gradient of rotations among the vectors, given skew-Hermitian gradients.

    A phase turns both vectors of a pair by one half: PyTorch's choice among those that fit.
    """
    squares = values * values
    gaps = squares.unsqueeze(-2) - squares.unsqueeze(-1) + identity_like(values)
    inner = divided(by_left, gaps) * values.unsqueeze(-2)
    inner = inner + divided(by_right, gaps) * values.unsqueeze(-1)
    if not by_left.is_complex():
        return inner
    of_left, of_right = (each.diagonal(0, -2, -1) for each in (by_left, by_right))
    both = of_left + of_right
    require_no_phase(both * 0.5, message=_PHASE_OF_SINGULAR_VECTORS)
    return inner + diag_embed(divided(of_left - of_right, values * 4) - both * values)


_svd = general(
    "linalg_svd",
    of_matrices("linalg.svd", _singular),
    _svd_vjp,
    dtypes=FACTORED,
    batch=broadcasting,
)


@return_type("linalg_svd")
class LinalgSVD(NamedTuple):
    """Singular values in descending order, between singular vectors: columns, then rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


@node_name("LinalgSvdBackward0")
@of_own_memory
def svd(
    A: Tensor,  # noqa: N803 - torch's name
    full_matrices: bool = True,
    *,
    driver: str | None = None,
) -> LinalgSVD:
    """Singular values S and vectors with ``A = U diag(S) Vh``.

    Raises:
        RuntimeError: it is no matrix of floating or complex numbers, or a driver is named.
    """
    _check_driver(driver)
    require_matrices(A, "linalg.svd")
    return LinalgSVD(*_svd_factors(_svd(A, full=full_matrices), A.shape, full_matrices))


@node_name("LinalgSvdBackward0")
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:  # noqa: N803
    """The singular values, in descending order."""
    return svd(A, full_matrices=False, driver=driver).S


def _check_driver(driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )
