"""Running products, extremes and log-sums: at each place along a dimension, of all up to it.

Products and log-sums are built by doubling: after n steps each place holds what its last 2**n
elements make. Nothing is divided by, so zeros need no exception, at any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.device import accumulated, module_of
from gradtool.engine import _dtypes
from gradtool.engine._ops.core import return_types
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.kinds import constant
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.unsupported import not_implemented
from gradtool.engine._ops.elementwise.arithmetic import mul
from gradtool.engine._ops.elementwise.logarithms import logaddexp
from gradtool.engine._ops.indexing.gathering import gathering
from gradtool.engine._ops.reductions.reducing import numpy_names
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor


def _doubling(x: Tensor, dim: int, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """The running form of an associative function."""
    dim = wrap_dim(dim, x.ndim)
    extent = x.shape[dim] if x.ndim else 1
    out, reach = x.clone(), 1
    while reach < extent:
        rest = extent - reach
        combined = combine(out.narrow(dim, 0, rest), out.narrow(dim, reach, rest))
        out = cat([out.narrow(dim, 0, reach), combined], dim)
        reach *= 2
    return out


@numpy_names
def cumprod(x: Tensor, dim: int, *, dtype: _dtypes.dtype | None = None) -> Tensor:
    """At each place along a dimension the product up to it. Integers multiply to int64.

    Raises:
        IndexError: there is no such dimension.
    """
    if dtype is None and not x.dtype.is_differentiable:
        dtype = _dtypes.int64
    return _doubling(x if dtype is None else x.to(dtype), dim, mul)


@numpy_names
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """The logarithm of the running sum of exponentials.

    Raises:
        IndexError: there is no such dimension.
        NotImplementedError: the numbers are neither floating nor complex.
    """
    if not x.dtype.is_differentiable:
        raise not_implemented("logcumsumexp_out_cpu", x._array.dtype)
    return _doubling(x, dim, logaddexp)


def _latest(extreme: Any) -> Callable[..., Any]:
    """Where the running extreme was last met; NaN, once met, stays."""

    def find(x: Any, *, dim: int) -> Any:
        met = accumulated(extreme, x, dim) == x
        if x.dtype.kind == "f":
            met |= np.isnan(x)
        places = module_of(x).arange(x.shape[dim]).reshape(-1, *[1] * (x.ndim - 1 - dim))
        return accumulated(np.maximum, np.where(met, places, 0), dim)

    return find


_last_largest = constant("cummax", _latest(np.maximum))
_last_smallest = constant("cummin", _latest(np.minimum))
_largest, _smallest = gathering("cummax"), gathering("cummin")


@numpy_names
def cummax(x: Tensor, dim: int) -> return_types.cummax:
    """The largest element so far along a dimension, and where it was last met."""
    return return_types.cummax(*_extreme(x, dim, _last_largest, _largest))


@numpy_names
def cummin(x: Tensor, dim: int) -> return_types.cummin:
    """The smallest element so far along a dimension, and where it was last met."""
    return return_types.cummin(*_extreme(x, dim, _last_smallest, _smallest))


def _extreme(x: Tensor, dim: int, find: Primitive, take: Primitive) -> tuple[Tensor, Tensor]:
    dim = wrap_dim(dim, x.ndim)
    if x.is_complex():
        raise not_implemented(find.name, x._array.dtype)
    if x.ndim == 0:
        return x.clone(), x.new_zeros((), dtype=_dtypes.int64)
    index = find(x, dim=dim)
    return take(x, index, dim=dim), index


__all__ = ["cummax", "cummin", "cumprod", "logcumsumexp"]
