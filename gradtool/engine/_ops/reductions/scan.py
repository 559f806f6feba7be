"""Running sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.reductions.reducing import accumulating, numpy_names
from gradtool.engine._tensor import Tensor


@accumulating
def _running_sum(x: Any, *, dim: int, backwards: bool) -> Any:
    dtype = np.int64 if x.dtype.kind in "iub" else x.dtype
    if x.ndim == 0:
        return x.astype(dtype)
    if backwards:
        return np.flip(np.cumsum(np.flip(x, dim), axis=dim, dtype=dtype), dim)
    return np.cumsum(x, axis=dim, dtype=dtype)


_cumsum: Primitive = linear(
    "cumsum",
    _running_sum,
    lambda g, dim, backwards: _cumsum(g, dim=dim, backwards=not backwards),
)


@numpy_names
def cumsum(x: Tensor, dim: int, *, dtype: _dtypes.dtype | None = None) -> Tensor:
    """At each place along a dimension the sum up to it. Integers add up to int64.

    Raises:
        IndexError: there is no such dimension.
    """
    if dtype is not None:
        x = x.to(dtype)
    found = _cumsum(x, dim=wrap_dim(dim, x._array.ndim), backwards=False)
    return found if dtype is None else found.to(dtype)


__all__ = ["cumsum"]
