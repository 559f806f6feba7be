"""Variance and standard deviation."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.kinds import general
from gradtool.engine._ops.core.quiet import quiet
from gradtool.engine._ops.reductions.reducing import (
    accumulating,
    count_over,
    dims_of,
    numpy_names,
    spread,
)
from gradtool.engine._ops.reductions.reduction import mean
from gradtool.engine._tensor import Tensor


@accumulating
def _variance(x: Any, *, dims: Ints, correction: float, keepdim: bool) -> Any:
    count = count_over(x.shape, dims)
    centre = x.sum(axis=dims, keepdims=True) / np.float64(count)
    deviation = np.abs(x - centre.astype(x.dtype))
    total = (deviation * deviation).sum(axis=dims, keepdims=keepdim)
    return (total / np.float64(max(0.0, count - correction))).astype(total.dtype)


@quiet
def _deviation(x: Any, *, dims: Ints, correction: float, keepdim: bool) -> Any:
    return np.sqrt(_variance(x, dims=dims, correction=correction, keepdim=keepdim))


def _var_vjp(g: Tensor, x: Tensor, dims: Ints, correction: float) -> Tensor:
    freedom = count_over(x.shape, dims) - correction
    scaled = g * (2 / freedom if freedom > 0 else math.inf)
    return spread(scaled, x.shape, dims) * (x - mean(x, dims, keepdim=True))


def _std_vjp(g: Tensor, x: Tensor, out: Tensor, dims: Ints, correction: float) -> Tensor:
    """Where nothing deviates the gradient is zero, as is that of a norm at zero."""
    of_var = (g / (out * 2)).masked_fill(out == 0, 0)
    return _var_vjp(of_var, x, dims, correction)


_var = general("var", _variance, _var_vjp)
_std = general("std", _deviation, _std_vjp)


def _arguments(
    name: str, x: Tensor, dim: Any, unbiased: bool | None, correction: float | None
) -> tuple[Ints, float]:
    """The dimensions and the correction, of whichever of torch's two signatures was used."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError(f"{name}() takes `unbiased` or `correction`, not both")
    if not x.dtype.is_differentiable:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    dims = dims_of(dim, x._array.ndim)
    if correction is None:
        correction = 0 if unbiased is False else 1
    if count_over(x._array.shape, dims) <= correction:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
            UserWarning,
            stacklevel=4,
        )
    return dims, correction


@numpy_names
def var(
    x: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The variance of all elements, or over some dimensions, over n - `correction` of them.

    `correction` is 1 by default, and 0 with ``unbiased=False``.

    Raises:
        RuntimeError: the elements are neither floating nor complex.
    """
    dims, correction = _arguments("var", x, dim, unbiased, correction)
    return _var(x, dims=dims, correction=correction, keepdim=keepdim)


@numpy_names
def std(
    x: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The standard deviation: the square root of `var`, whose arguments it takes.

    Raises:
        RuntimeError: the elements are neither floating nor complex.
    """
    dims, correction = _arguments("std", x, dim, unbiased, correction)
    return _std(x, dims=dims, correction=correction, keepdim=keepdim)


@numpy_names
def var_mean(x: Tensor, dim: Any = None, *args: Any, **params: Any) -> tuple[Tensor, Tensor]:
    """`var` and the mean, over the same dimensions."""
    return var(x, dim, *args, **params), _mean_beside(x, dim, *args, **params)


@numpy_names
def std_mean(x: Tensor, dim: Any = None, *args: Any, **params: Any) -> tuple[Tensor, Tensor]:
    """`std` and the mean, over the same dimensions."""
    return std(x, dim, *args, **params), _mean_beside(x, dim, *args, **params)


def _mean_beside(
    x: Tensor,
    dim: Any,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    return mean(x, None if isinstance(dim, bool) else dim, keepdim)


__all__ = ["std", "std_mean", "var", "var_mean"]
