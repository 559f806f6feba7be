"""Cumulative sums, products and extremes, differences, and integrals by the trapezoidal rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.device import accumulated, module_of
from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import along_dim
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.dtype_support import (
    C_NAMES,
    INT64,
    NUMBERS,
    ORDERED,
    SMOOTH,
    not_implemented,
    takes,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import conjugate, constant, general, linear
from gradtool.engine._ops.core.op import FUNCTIONS, op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.primitive_node import save_also
from gradtool.engine._ops.core.return_types import ValuesAndIndices, return_type
from gradtool.engine._ops.creation.creation import ones_like
from gradtool.engine._ops.elementwise.elementwise import exp, log
from gradtool.engine._ops.indexing.gathering import gathering
from gradtool.engine._ops.reductions.extremum import amax
from gradtool.engine._ops.reductions.reduction import accumulating, largest_of, numpy_names
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor

# ---- in a dtype ------------------------------------------------------------------------------


def _in_own_dtype(name: str) -> Callable[..., Tensor]:
    """The form that is written over the tensor itself, in whose dtype it computes."""

    def own(x: Tensor, *args: Any, dtype: _dtypes.dtype | None = None, **named: Any) -> Tensor:
        if dtype not in (None, x.dtype):
            have, given = (C_NAMES[each.name] for each in (x.dtype, dtype))
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {have} and output tensor dtype {given} "
                "should match"
            )
        if x.dtype is _dtypes.bool_:
            dtype = x.dtype
        out: Tensor = FUNCTIONS[name](x, *args, dtype=dtype, **named)
        return out

    own.__name__ = name
    return own


def _check_dtype(name: str, x: Tensor, dtype: _dtypes.dtype | None) -> None:
    if dtype is _dtypes.bool_ and x.ndim and x.numel():
        raise not_implemented(f"{name}_out_cpu", dtype.numpy)


# ---- cumulative sum --------------------------------------------------------------------------


@accumulating
def _running_sum(x: Any, *, dim: int, backwards: bool) -> Any:
    dtype = np.int64 if x.dtype.kind in "iub" else x.dtype
    if x.ndim == 0:
        return x.astype(dtype)
    if backwards:
        return np.flip(np.cumsum(np.flip(x, dim), axis=dim, dtype=dtype), dim)
    return x.cumsum(axis=dim, dtype=dtype)


_cumsum: Primitive = linear(
    "cumsum",
    _running_sum,
    lambda g, dim, backwards: _cumsum(g, dim=dim, backwards=not backwards),
    batch=along_dim,
)


@op(in_place=_in_own_dtype("cumsum"))
@numpy_names
def cumsum(x: Tensor, dim: int, *, dtype: _dtypes.dtype | None = None) -> Tensor:
    """At each place along a dimension the sum up to it. Integers add up to int64.

    Raises:
        IndexError: there is no such dimension.
    """
    dim = wrap_dim(dim, x._array.ndim)
    if dtype is not None:
        _check_dtype("cumsum", x, dtype)
        x = x.to(dtype)
    found = _cumsum(x, dim=dim, backwards=False)
    return found if dtype is None else found.to(dtype)


# ---- cumulative products ---------------------------------------------------------------------


@accumulating
def _running_product(x: Any, *, dim: int) -> Any:
    return x.cumprod(axis=dim, dtype=x.dtype) if x.ndim else x.copy()


def _running_product_vjp(g: Tensor, x: Tensor, out: Tensor, dim: int) -> Tensor:
    """The sum, from each place on, of ``g`` times the products without the element there."""
    if x.ndim == 0 or x.shape[dim] <= 1:
        return g
    if g._level is None and x._level is None and x._array.all():
        weighed: Tensor = _cumsum(g * conjugate(out), dim=dim, backwards=True) / conjugate(x)
        return weighed
    # Nothing is divided by, so zeros need no exception, at any order.
    x = conjugate(x)
    one = ones_like(x.narrow(dim, 0, 1))
    rest = x.shape[dim] - 1
    before = cat([one, cumprod(x.narrow(dim, 0, rest), dim)], dim)
    factors = cat([x.narrow(dim, 1, rest), one], dim)
    found: Tensor = before * _suffix_sums(g, factors, dim)
    return found


def _suffix_sums(terms: Tensor, factors: Tensor, dim: int) -> Tensor:
    """The solution of ``s[i] = terms[i] + factors[i] * s[i + 1]``, by doubling."""
    extent, reach = terms.shape[dim], 1
    while reach < extent:
        rest = extent - reach
        near, last = factors.narrow(dim, 0, rest), terms.narrow(dim, rest, reach)
        later = terms.narrow(dim, reach, rest)
        terms = cat([terms.narrow(dim, 0, rest) + near * later, last], dim)
        further = near * factors.narrow(dim, reach, rest)
        factors = cat([further, factors.narrow(dim, rest, reach)], dim)
        reach *= 2
    return terms


_cumprod: Primitive = general(
    "cumprod",
    _running_product,
    _running_product_vjp,
    dtypes=SMOOTH | INT64,
    batch=along_dim,
)


@op(in_place=_in_own_dtype("cumprod"))
@numpy_names
def cumprod(x: Tensor, dim: int, *, dtype: _dtypes.dtype | None = None) -> Tensor:
    """At each place along a dimension the product up to it. Integers multiply to int64.

    Raises:
        IndexError: there is no such dimension.
    """
    dim = wrap_dim(dim, x.ndim)
    _check_dtype("cumprod", x, dtype)
    if dtype is None and not x.dtype.is_differentiable:
        dtype = _dtypes.int64
    found = x if dtype is None else x.to(dtype)
    return _cumprod(found, dim=dim)


# ---- cumulative log-sums ---------------------------------------------------------------------


def _running_log_sum(x: Any, *, dim: int) -> Any:
    if x.ndim == 0 or 0 in x.shape:
        return x.copy()
    if x.dtype.kind != "c":
        return accumulated(np.logaddexp, x, dim)
    steps = [each.copy() for each in np.moveaxis(x, dim, 0)]
    for at in range(1, len(steps)):
        steps[at] = _log_of_two(steps[at - 1], steps[at])
    return np.stack(steps, dim)


@ignore_fp_warnings
def _log_of_two(x: Any, y: Any) -> Any:
    """The logarithm of a sum of exponentials, its phase next to that of the larger."""
    less = x.real < y.real
    low, high = np.where(less, x, y), np.where(less, y, x)
    found = high + np.log1p(np.exp(low - high))
    endless = ~np.isfinite(high.real) & (high.real == low.real)
    if endless.any():
        both = np.where(low.real < 0, low, np.log(np.exp(low) + np.exp(high)))
        found = np.where(endless, both, found)
    return found


def _running_log_sum_vjp(g: Tensor, x: Tensor, out: Tensor, dim: int) -> Tensor:
    """``exp(x)`` times the sum of ``g / exp(out)`` from there on, by logarithms."""
    if g.numel() == 0 or g.ndim == 0:
        return g
    if g.is_complex():
        turned: Tensor = conjugate(_weighed(log(conjugate(g)), x, out, dim))
        return turned
    size = log(g.abs())
    least = float(np.finfo(g._array.dtype).min)
    positive, negative = (size.masked_fill(~which, least) for which in (g > 0, g < 0))
    return _weighed(positive, x, out, dim) - _weighed(negative, x, out, dim)


def _weighed(log_g: Tensor, x: Tensor, out: Tensor, dim: int) -> Tensor:
    after = _log_sums((log_g - out).flip(dim), dim=dim).flip(dim)
    return exp(after + x)


_LEAST_SUM = 1e-13
"""What PyTorch adds to a sum before it divides by it."""


def _running_log_sum_jvp(tangents: Sequence[Any], x: Tensor, dim: int) -> Tensor:
    if x.ndim == 0 or x.numel() == 0:
        change: Tensor = tangents[0]
        return change
    powers = exp(x if x.is_complex() else x - amax(x, dim, True))
    return cumsum(powers * tangents[0], dim) / (cumsum(powers, dim) + _LEAST_SUM)


_log_sums: Primitive = general(
    "logcumsumexp",
    _running_log_sum,
    _running_log_sum_vjp,
    jvp=_running_log_sum_jvp,
    dtypes=SMOOTH,
    batch=along_dim,
)


@op(method=True)
@numpy_names
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """The logarithm of the running sum of exponentials.

    Raises:
        IndexError: there is no such dimension.
        NotImplementedError: the numbers are neither floating nor complex.
    """
    if not x.dtype.is_differentiable:
        raise not_implemented("logcumsumexp_out_cpu", x._array.dtype)
    return _log_sums(x, dim=wrap_dim(dim, x.ndim))


# ---- cumulative extremes ---------------------------------------------------------------------


def _latest(extreme: Any) -> Callable[..., Any]:
    """Return the place where the running extreme was last met; NaN, once met, stays."""

    def find(x: Any, *, dim: int) -> Any:
        running = accumulated(extreme, x, dim)
        met = running == x
        if x.dtype.kind == "f" and x.size and np.isnan(largest_of(running.take(-1, dim), None)):
            met |= np.isnan(x)
        places = module_of(x).arange(x.shape[dim]).reshape(-1, *[1] * (x.ndim - 1 - dim))
        return accumulated(np.maximum, np.where(met, places, 0), dim)

    return find


_last_largest = constant("cummax", _latest(np.maximum), dtypes=ORDERED, batch=along_dim)
_last_smallest = constant("cummin", _latest(np.minimum), dtypes=ORDERED, batch=along_dim)
_largest = gathering("cummax", dtypes=ORDERED).keeping("x")
_smallest = gathering("cummin", dtypes=ORDERED).keeping("x")


@return_type("cummax")
class CumulativeMax(ValuesAndIndices):
    """Result of `cummax`."""

    __slots__ = ()


@op(method=True, node="CummaxBackward0")
@numpy_names
def cummax(x: Tensor, dim: int) -> CumulativeMax:
    """The largest element so far along a dimension, and where it was last met."""
    return CumulativeMax(*_extreme(x, dim, _last_largest, _largest))


@return_type("cummin")
class CumulativeMin(ValuesAndIndices):
    """Result of `cummin`."""

    __slots__ = ()


@op(method=True, node="CumminBackward0")
@numpy_names
def cummin(x: Tensor, dim: int) -> CumulativeMin:
    """The smallest element so far along a dimension, and where it was last met."""
    return CumulativeMin(*_extreme(x, dim, _last_smallest, _smallest))


def _extreme(x: Tensor, dim: int, find: Primitive, take: Primitive) -> tuple[Tensor, Tensor]:
    dim = wrap_dim(dim, x.ndim)
    if x.is_complex():
        raise not_implemented(find.name, x._array.dtype)
    if x.ndim == 0:
        values, index = x.clone(), x.new_zeros((), dtype=_dtypes.int64)
        save_also(values, {"self": x, "indices": index})
        return values, index
    index = find(x, dim=dim)
    return take(x, index, dim=dim), index


# ---- differences and integrals ---------------------------------------------------------------


@op(method=True)
@numpy_names
def diff(
    x: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Each element less the one before it, `n` times over; of booleans whether they differ.

    Raises:
        RuntimeError: the tensor is 0-d, or `n` is negative.
    """
    if x.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = wrap_dim(dim, x.ndim)
    if n == 0:
        return x.clone()
    parts = [each for each in (prepend, x, append) if each is not None]
    joined = cat(parts, dim) if len(parts) > 1 else x
    for _ in range(n):
        joined = _neighbours(joined, dim)
    return joined


def _neighbours(x: Tensor, dim: int) -> Tensor:
    rest = max(x.shape[dim] - 1, 0)
    later, earlier = x.narrow(dim, x.shape[dim] - rest, rest), x.narrow(dim, 0, rest)
    return later ^ earlier if x._array.dtype.kind == "b" else later - earlier


@op(aliases=("trapz",))
@takes(NUMBERS, "trapezoid")
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral of the straight lines between points, `dx` or the differences of `x` apart."""
    dim = wrap_dim(dim, y.ndim)
    return _areas(y, x, dx, dim).sum(dim)


@op
@takes(NUMBERS, "cumulative_trapezoid")
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1
) -> Tensor:
    """`trapezoid` up to each point but the first."""
    dim = wrap_dim(dim, y.ndim)
    return cumsum(_areas(y, x, dx, dim), dim)


def _areas(y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Tensor:
    """The area between each pair of neighbours."""
    rest = max(y.shape[dim] - 1, 0)
    heights = (y.narrow(dim, y.shape[dim] - rest, rest) + y.narrow(dim, 0, rest)) / 2
    if x is None:
        return heights if dx is None else heights * dx
    if x.ndim == 1:
        return heights * diff(x).reshape(-1, *[1] * (y.ndim - 1 - dim))
    return heights * diff(x, dim=dim - y.ndim)
