"""Sums of exponentials, taken relative to the largest so that none overflows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import along_dim, over_dims
from gradtool.engine._ops.core.dims import Ints, wrap_dim
from gradtool.engine._ops.core.dtype_support import (
    REAL,
    SMOOTH,
    not_implemented,
    refuse_complex_gradient,
)
from gradtool.engine._ops.core.kinds import conjugate, general
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.elementwise.elementwise import exp
from gradtool.engine._ops.reductions.reduction import (
    accumulating,
    added_up,
    dims_of,
    largest_of,
    numpy_names,
    spread,
    sum,
)
from gradtool.engine._tensor import Tensor


def _largest(x: Any, dims: Ints) -> Any:
    """The largest elements; zero where there are none, or where the largest is infinite.

    Of complex numbers the largest real part: that alone can overflow, and a shift by an
    imaginary number would leave the principal branch of the logarithm.
    """
    if x.size == 0:
        return np.zeros_like(x.sum(axis=dims, keepdims=True))
    largest = x.real.max(axis=dims, keepdims=True)
    # An infinity less itself would be NaN.
    return np.where(np.isinf(largest), 0, largest)


@accumulating
def _logsumexp(x: Any, *, dims: Ints, keepdim: bool) -> Any:
    largest = _largest(x, dims)
    total = np.log(np.exp(x - largest).sum(axis=dims, keepdims=True)) + largest
    return total if keepdim else total.reshape(x.sum(axis=dims).shape)


_lse = general(
    "logsumexp",
    _logsumexp,
    lambda g, x, out, dims: (
        spread(g, x.shape, dims) * conjugate(exp(x - spread(out, x.shape, dims)))
    ),
    dtypes=SMOOTH,
    batch=over_dims,
)


@op(method=True)
@numpy_names
def logsumexp(x: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials over some dimensions.

    Raises:
        IndexError: there is no such dimension.
    """
    if not x.dtype.is_differentiable:
        x = x.to(_dtypes.get_default_dtype())
    return _lse(x, dims=dims_of(dim, x._array.ndim), keepdim=keepdim)


def _relative(x: Any, dim: int) -> Any:
    """`x` less its largest element along `dim`, in memory of its own and with a dimension."""
    rows = x if x.ndim else x.reshape(1)
    return rows - largest_of(rows, (dim,), keepdim=True) if x.size else rows.copy()


@accumulating
def _softmax(x: Any, *, dim: int) -> Any:
    weights = _relative(x, dim)
    np.exp(weights, out=weights)
    weights /= added_up(weights, (dim,), keepdim=True)
    return weights.reshape(x.shape)


@accumulating
def _log_softmax(x: Any, *, dim: int) -> Any:
    shifted = _relative(x, dim)
    shifted -= np.log(added_up(np.exp(shifted), (dim,), keepdim=True))
    return shifted.reshape(x.shape)


def _softmax_vjp(g: Tensor, out: Tensor, dim: int) -> Tensor:
    weighted: Tensor = g * out
    return weighted - out * sum(weighted, dim, keepdim=True)


def _log_softmax_vjp(g: Tensor, out: Tensor, dim: int) -> Tensor:
    return g - exp(out) * sum(g, dim, keepdim=True)


_soft = general("softmax", _softmax, _softmax_vjp, dtypes=REAL, batch=along_dim)
_log_soft = general("log_softmax", _log_softmax, _log_softmax_vjp, dtypes=REAL, batch=along_dim)


@op(method=True)
@numpy_names
def softmax(x: Tensor, dim: int, dtype: _dtypes.dtype | None = None) -> Tensor:
    """Exponentials along a dimension, divided by their sum.

    Raises:
        IndexError: there is no such dimension.
        NotImplementedError: the elements are not floating.
    """
    dim = wrap_dim(dim, x._array.ndim)
    x = _floating("softmax", x, dtype)
    return _soft(x, dim=dim) if x.dtype.is_differentiable else x.clone()


@op(method=True)
@numpy_names
def log_softmax(x: Tensor, dim: int, dtype: _dtypes.dtype | None = None) -> Tensor:
    """The logarithm of `softmax`, accurate where that is small.

    Raises:
        IndexError: there is no such dimension.
        NotImplementedError: the elements are not floating.
    """
    dim = wrap_dim(dim, x._array.ndim)
    x = _floating("log_softmax", x, dtype)
    return _log_soft(x, dim=dim) if x.dtype.is_differentiable else x.clone()


def _floating(name: str, x: Tensor, dtype: _dtypes.dtype | None) -> Tensor:
    if dtype is not None:
        x = x.to(dtype)
    if not x.is_floating_point() and x.numel():
        raise not_implemented(name, x._array.dtype)
    refuse_complex_gradient(f"_{name}", x)
    return x
