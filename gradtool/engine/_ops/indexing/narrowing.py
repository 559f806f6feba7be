"""Views of a part of a tensor: a slice, some slices, or one piece of several.

Each is a key of integers, slices and None; the transpose of taking what is there is to put it
there among zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine._ops.core.dims import Ints, wrap_dim
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._tensor import Tensor


def _view_at(x: Any, *, key: tuple[Any, ...]) -> Any:
    return x[(*key, Ellipsis)]  # without the ellipsis an element would be a copy


def _zeros_with(x: Any, *, shape: Ints, key: tuple[Any, ...]) -> Any:
    """Zeros with `x` written at a key: the transpose of taking it from there."""
    out = np.zeros_like(x, shape=shape)
    out[key] = x
    return out


_put_in_zeros: Primitive = linear(
    "slice_backward", _zeros_with, lambda g, key: take_slice(g, key=key)
)


def _viewing(name: str) -> Primitive:
    return linear(
        name,
        _view_at,
        lambda g, x_shape, key: _put_in_zeros(g, shape=x_shape, key=key),
        is_view=True,
    )


take_select: Primitive = _viewing("select")
take_slice: Primitive = _viewing("slice")
_split: Primitive = _viewing("split")


def select(x: Tensor, dim: int, index: int) -> Tensor:
    """One slice along a dimension, without it: a view."""
    if x.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, position = wrap_dim(dim, x.ndim), int(index)
    if not -x.shape[dim] <= position < x.shape[dim]:
        raise IndexError(
            f"select(): index {position} out of range for tensor of size {list(x.shape)} at "
            f"dimension {dim}"
        )
    return take_select(x, key=(*[slice(None)] * dim, position))


def narrow(x: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """So many slices along a dimension from `start` on: a view."""
    if x.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    dim, first = wrap_dim(dim, x.ndim), int(start)
    extent = x.shape[dim]
    if not -extent <= first <= extent:
        raise IndexError(
            f"start out of range (expected to be in range of [{-extent}, {extent}], "
            f"but got {first})"
        )
    first += extent if first < 0 else 0
    if first + length > extent:
        raise RuntimeError(
            f"start ({first}) + length ({length}) exceeds dimension size ({extent})."
        )
    return take_slice(x, key=(*[slice(None)] * dim, slice(first, first + length)))


def piece(x: Tensor, dim: int, start: int, end: int) -> Tensor:
    """One of several views that a tensor is taken apart into."""
    return _split(x, key=(*[slice(None)] * dim, slice(start, end)))


__all__ = ["narrow", "select"]
