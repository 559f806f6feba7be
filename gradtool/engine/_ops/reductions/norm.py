"""p-norms of vectors: of all elements, or over some dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import over_dims
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import SMOOTH, TYPE_NAMES
from gradtool.engine._ops.core.kinds import conjugate, general
from gradtool.engine._ops.core.node_names import saving
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.elementwise.elementwise import sgn
from gradtool.engine._ops.reductions.extremum import amax, amin
from gradtool.engine._ops.reductions.reduction import (
    accumulating,
    added_up,
    count_over,
    dims_of,
    numpy_names,
    spread,
    sum,
)
from gradtool.engine._tensor import Tensor


@accumulating
def _euclidean(x: Any, *, dims: Ints, keepdim: bool) -> Any:
    squares = (x * x.conj()).real if x.dtype.kind == "c" else x * x
    return np.sqrt(added_up(squares, dims, keepdim))


def _euclidean_vjp(g: Tensor, x: Tensor, out: Tensor, dims: Ints) -> Tensor:
    """Along x; zero at the origin, which is one of the subgradients there."""
    length = spread(out, x.shape, dims)
    direction: Tensor = (x / length).masked_fill(length == 0, 0)
    return spread(g, x.shape, dims) * direction


@accumulating
def _of_order(x: Any, *, p: float, dims: Ints, keepdim: bool) -> Any:
    return (np.abs(x) ** p).sum(axis=dims, keepdims=keepdim) ** (1 / p)


def _of_order_vjp(g: Tensor, x: Tensor, out: Tensor, p: float, dims: Ints) -> Tensor:
    """``x |x|**(p - 2) / out**(p - 1)``, written so that it is zero where x, or the norm, is.

    The powers are taken apart as PyTorch does, which decides what the second order is there.
    """
    scaled = _power(x, p)
    if p < 1:
        return scaled * spread(g * out ** (1 - p), x.shape, dims)
    rate = (g / out ** (p - 1)).masked_fill(out == 0, 0)
    gradient: Tensor = scaled * spread(rate, x.shape, dims)
    return gradient


def _power(x: Tensor, p: float) -> Tensor:
    """``x |x|**(p - 2)``, and zero for zero."""
    size = x.abs()
    if p < 1:
        return sgn(x) * (size ** (p - 1)).masked_fill(x == 0, 0)
    return sgn(x) * size ** (p - 1) if p < 2 else x * size ** (p - 2)


def _of_order_jvp(
    tangents: Sequence[Any], x: Tensor, out: Tensor, p: float, dims: Ints, keepdim: bool
) -> Tensor:
    along = sum(real(conjugate(_power(x, p)) * tangents[0]), dims, keepdim)
    change: Tensor = (along * out ** (1 - p)).masked_fill(out == 0, 0)
    return change


_norm_2 = general("linalg_vector_norm", _euclidean, _euclidean_vjp, dtypes=SMOOTH, batch=over_dims)
_norm_p = general(
    "linalg_vector_norm",
    _of_order,
    _of_order_vjp,
    jvp=_of_order_jvp,
    dtypes=SMOOTH,
    batch=over_dims,
)
_norm_1 = general(
    "linalg_vector_norm",
    accumulating(lambda x, *, dims, keepdim: np.abs(x).sum(axis=dims, keepdims=keepdim)),
    lambda g, x, dims: sgn(x) * spread(g, x.shape, dims),
    dtypes=SMOOTH,
    batch=over_dims,
)
_norm_0 = general(
    "linalg_vector_norm",
    lambda x, *, dims, keepdim: (x != 0).sum(axis=dims, keepdims=keepdim).astype(x.real.dtype),
    lambda _g: None,
    dtypes=SMOOTH,
    batch=over_dims,
)


@op(method=True, node=saving("LinalgVectorNormBackward0", "x", "out"))
@numpy_names
def norm(
    x: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
) -> Tensor:
    """``(|x|**p).sum() ** (1 / p)`` of all elements, or over some dimensions.

    `p` may be an infinity (the largest or smallest magnitude) or 0 (how many are not zero);
    ``fro`` is 2. The gradient is zero where the norm is.

    Raises:
        RuntimeError: there is no such norm, or the elements are neither floating nor complex.
    """
    if dtype is not None:
        x = x.to(dtype)
    if p == "nuc":
        return _nuclear(x, dim, keepdim)
    order = 2.0 if p in (None, "fro") else p
    if order == "nuc":
        from gradtool.engine._ops.linalg.norms import matrix_norm

        return matrix_norm(x, "nuc", (-2, -1) if dim is None else dim, keepdim)
    if isinstance(order, str):
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {order}")
    if not x.dtype.is_differentiable:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {TYPE_NAMES[x.dtype.name]}"
        )
    return _vector_norm(x, float(order), dims_of(dim, x._array.ndim), keepdim)


def _nuclear(x: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """`linalg.matrix_norm`, which is loaded when it is called: it is made of this one."""
    from gradtool.engine._ops.linalg.norms import matrix_norm

    return matrix_norm(x, "nuc", (0, 1) if dim is None else dim, keepdim)


def _vector_norm(x: Tensor, p: float, dims: Ints, keepdim: bool) -> Tensor:
    if (p < 0 or p == math.inf) and count_over(x._array.shape, dims) == 0:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    if p == 2:
        return _norm_2(x, dims=dims, keepdim=keepdim)
    if p == 1:
        return _norm_1(x, dims=dims, keepdim=keepdim)
    if math.isinf(p):
        return (amax if p > 0 else amin)(x.abs(), dims, keepdim)
    if p == 0:
        return _norm_0(x, dims=dims, keepdim=keepdim)
    return _norm_p(x, p=p, dims=dims, keepdim=keepdim)
