"""Variance, standard deviation, covariance and correlation."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import all_later, changing
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import SMOOTH, TYPE_NAMES
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import conjugate, general
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.reductions.reduction import (
    accumulating,
    count_over,
    dims_of,
    mean,
    numpy_names,
    spread,
    sum,
)
from gradtool.engine._tensor import Tensor

# ---- variance and standard deviation ---------------------------------------------------------


@accumulating
def _variance(x: Any, *, dims: Ints, correction: float, keepdim: bool, whole: bool) -> Any:
    count = count_over(x.shape, dims)
    centre = x.sum(axis=dims, keepdims=True) / np.float64(count)
    deviation = np.abs(x - centre.astype(x.dtype))
    total = (deviation * deviation).sum(axis=dims, keepdims=keepdim)
    return (total / np.float64(max(0.0, count - correction))).astype(total.dtype)


@ignore_fp_warnings
def _deviation(x: Any, **params: Any) -> Any:
    return np.sqrt(_variance(x, **params))


def _var_vjp(g: Tensor, x: Tensor, dims: Ints, correction: float, whole: bool) -> Tensor:
    """`whole` is True where no dimensions are named, or there are none.

    Too few elements have no variance; torch then takes a constant for its derivative.
    """
    return _times_deviation(spread(g, x.shape, dims), x, dims, correction, whole)


def _times_deviation(g: Tensor, x: Tensor, dims: Ints, correction: float, whole: bool) -> Tensor:
    freedom = count_over(x.shape, dims) - correction
    if whole and freedom <= 0:
        slope = where(x == mean(x, dims), math.nan, math.inf)
        return (g * slope).to(x.dtype)
    scaled = g * (2 / freedom if freedom > 0 else math.inf)
    return scaled * (x - mean(x, dims, keepdim=True))


def _std_jvp(
    tangents: Any, x: Tensor, out: Tensor, dims: Ints, correction: float, whole: bool, keepdim: bool
) -> Tensor:
    """Zero where nothing deviates."""
    products = _times_deviation(conjugate(tangents[0]), x, dims, correction, whole)
    of_var = sum(real(products), dims, keepdim=keepdim)
    found: Tensor = (of_var / (out * 2)).masked_fill(out == 0, 0)
    return found


def _std_vjp(
    g: Tensor, x: Tensor, out: Tensor, dims: Ints, correction: float, whole: bool
) -> Tensor:
    """The gradient is zero where nothing deviates, as is that of a norm at zero."""
    of_var = (g / (out * 2)).masked_fill(out == 0, 0)
    return _var_vjp(of_var, x, dims, correction, whole)


_over_dims = changing(dims=all_later, whole=lambda _whole, _size: False)
_var = general("var", _variance, _var_vjp, dtypes=SMOOTH, batch=_over_dims)
_std = general("std", _deviation, _std_vjp, jvp=_std_jvp, dtypes=SMOOTH, batch=_over_dims)


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


@op(method=True)
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
    whole = dim is None or isinstance(dim, bool) or x.ndim == 0
    dims, correction = _arguments("var", x, dim, unbiased, correction)
    return _var(x, dims=dims, correction=correction, keepdim=keepdim, whole=whole)


@op(method=True)
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
    whole = dim is None or isinstance(dim, bool) or x.ndim == 0
    dims, correction = _arguments("std", x, dim, unbiased, correction)
    return _std(x, dims=dims, correction=correction, keepdim=keepdim, whole=whole)


@op(node="VarMeanBackward0")
@numpy_names
def var_mean(x: Tensor, dim: Any = None, *args: Any, **params: Any) -> tuple[Tensor, Tensor]:
    """`var` and the mean, over the same dimensions."""
    return var(x, dim, *args, **params), _mean_beside(x, dim, *args, **params)


@op(node="StdMeanBackward0")
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


# ---- covariance: a variable is a row, an observation a column --------------------------------


@op(method=True)
def cov(
    x: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariance of each pair of variables, over n - `correction` observations.

    `fweights` says how often each observation was made, `aweights` how much it weighs.

    Raises:
        RuntimeError: there are more than two dimensions, or weights do not fit.
    """
    if x.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{x.ndim} dimensions"
        )
    if x.dtype is _dtypes.bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = x.reshape(1, -1) if x.ndim < 2 else x
    weights = _weights(rows.shape[1], fweights, aweights)
    weighted = rows if weights is None else rows * weights
    total: Any = rows.shape[1] if weights is None else weights.sum()
    average = weighted.sum(1, keepdim=True) / total
    freedom = total - correction
    if weights is not None:
        if float(total.detach()) == 0:
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
        if aweights is not None and correction:
            freedom = total - correction * (weights * aweights).sum() / total
    if float(freedom.detach() if isinstance(freedom, Tensor) else freedom) <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "number of observations.",
            stacklevel=2,
        )
        freedom = 0
    centred = rows - average
    weighted = centred if weights is None else centred * weights
    found: Tensor = (centred @ conjugate(weighted).transpose(0, 1)) / freedom
    return found.squeeze()


def _weights(count: int, fweights: Tensor | None, aweights: Tensor | None) -> Tensor | None:
    """One for each of `count` observations, in the dtype of those given."""
    weights = None
    for name, given, integral in (("fweights", fweights, True), ("aweights", aweights, False)):
        if given is not None:
            _check_weights(name, given, count, integral=integral)
            weights = given if weights is None else weights * given
    return weights


def _check_weights(name: str, given: Tensor, count: int, *, integral: bool) -> None:
    if given.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{given.ndim} dimensions"
        )
    if given.dtype.is_floating_point == integral:
        raise RuntimeError(
            f"cov(): expected {name} to have {'integral' if integral else 'floating point'} dtype "
            f"but got {name} with {TYPE_NAMES[given.dtype.name]} dtype"
        )
    if given.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the "
            f"input but got {given.numel()} != {count}"
        )
    if count and bool((given.detach() < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@op(method=True)
def corrcoef(x: Tensor) -> Tensor:
    """The correlation of each pair of variables.

    Raises:
        RuntimeError: there are more than two dimensions.
    """
    if x.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{x.ndim} dimensions"
        )
    found = cov(x)
    if found.ndim == 0:
        return found / found
    deviation = real(found.diagonal()).sqrt()
    scaled: Tensor = found / deviation.unsqueeze(1) / deviation
    return scaled if scaled.is_complex() else scaled.clamp(-1, 1)
