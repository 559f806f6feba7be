"""Overlapping windows along a dimension, as a view, and the sum that is its transpose."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine._ops.core.dims import Ints, wrap_dim
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.indexing.narrowing import narrow
from gradtool.engine._tensor import Tensor


def _windows(x: Any, *, dim: int, size: int, step: int) -> Any:
    """Windows along a dimension, as a last dimension more."""
    moved = np.lib.stride_tricks.sliding_window_view(x, size, axis=dim, writeable=True)
    return moved[(*[slice(None)] * dim, slice(None, None, step))]


def _summed_windows(x: Any, *, shape: Ints, dim: int, step: int) -> Any:
    """The transpose of `_windows`: every window added where it was taken from."""
    out = np.zeros_like(x, shape=shape)
    count = x.shape[dim]
    for offset in range(x.shape[-1]):
        taken = slice(offset, offset + step * (count - 1) + 1, step)
        out[(*[slice(None)] * dim, taken)] += x[..., offset]
    return out


_unfold: Primitive = linear(
    "unfold",
    _windows,
    lambda g, x_shape, dim, step: sum_of_windows(g, shape=x_shape, dim=dim, step=step),
    is_view=True,
)
sum_of_windows: Primitive = linear(
    "unfold_backward",
    _summed_windows,
    lambda g, x_shape, dim, step: _unfold(g, dim=dim, size=x_shape[-1], step=step),
)


def unfold(x: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of `size` elements, `step` apart, along a dimension; their elements come last."""
    dim = wrap_dim(dimension, x.ndim)
    extent = x.shape[dim] if x.ndim else 1
    if size > extent:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {extent} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if x.ndim == 0:
        return narrow(x.reshape(1), 0, 0, size)
    return _unfold(x, dim=dim, size=size, step=step)


__all__ = ["unfold"]
