"""Copies of a tensor: as it is, repeated, or with its elements in another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints, as_ints, one_by_one, wrap_dim, wrap_dims
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.indexing.slicing import index_select
from gradtool.engine._ops.shape.shape import reshape
from gradtool.engine._tensor import Tensor, to_numpy


def _copied(x: Any) -> Any:
    """A dense copy in the same memory order; an expanded array has none, and gets row-major."""
    return x.copy(order="C" if 0 in x.strides else "K")


_clone = linear("clone", _copied, lambda g: g)
_contiguous = linear("clone", lambda x: x.copy(order="C"), lambda g: g)
_repeat = linear(
    "repeat",
    lambda x, *, repeats: np.tile(x, repeats),
    lambda g, x_shape, repeats: _repeats_summed(g, x_shape, repeats),
)
_flip = linear(
    "flip",
    lambda x, *, dims: np.flip(x, dims).copy(),
    lambda g, dims: g.flip(dims),
)
_roll = linear(
    "roll",
    lambda x, *, shifts, dims: np.roll(x, shifts, dims),
    lambda g, shifts, dims: g.roll(tuple([-shift for shift in shifts]), dims),
)


def _repeats_summed(g: Tensor, shape: Ints, repeats: Ints) -> Tensor:
    """The transpose of repeating: the repeats as dimensions of their own, summed over."""
    new = len(repeats) - len(shape)
    pairs = zip(repeats, (1,) * new + shape, strict=True)
    apart = g.reshape([extent for pair in pairs for extent in pair])
    return apart.sum(tuple(range(0, 2 * len(repeats), 2))).reshape(shape) if repeats else g


def clone(x: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy that the gradient flows through."""
    return _contiguous(x) if str(memory_format).endswith("contiguous_format") else _clone(x)


def contiguous(x: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor itself if it is contiguous, else a copy that is."""
    return x if x.is_contiguous() else _contiguous(x)


@one_by_one
def repeat(x: Tensor, repeats: Ints) -> Tensor:
    """Copies side by side, so many along each dimension; further dimensions come in front."""
    if len(repeats) < x.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions "
            "of tensor"
        )
    if any(count < 0 for count in repeats):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(repeats)}")
    return _repeat(x, repeats=repeats)


@one_by_one
def tile(x: Tensor, dims: Ints) -> Tensor:
    """`repeat` that leaves the dimensions in front alone where fewer counts are given."""
    return repeat(x, (1,) * (x.ndim - len(dims)) + dims)


def repeat_interleave(
    x: Tensor,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Each element along a dimension so many times in a row.

    Given one tensor of counts alone: the positions 0, 1, … each so many times.
    """
    if repeats is None:
        positions = x.new_tensor(range(len(x)))
        return repeat_interleave(positions, x, 0)
    if dim is None:
        x, dim = x.reshape(-1), 0
    extent = x.shape[wrap_dim(dim, x.ndim)]
    counts = to_numpy(repeats._array) if isinstance(repeats, Tensor) else np.asarray(repeats)
    if counts.ndim == 1 and counts.size not in (1, extent):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size({dim}) = {extent}"
        )
    positions = np.repeat(np.arange(extent), np.broadcast_to(counts, (extent,)))
    return index_select(x, dim, x.new_tensor(positions, dtype=_dtypes.int64))


@one_by_one
def flip(x: Tensor, dims: Ints) -> Tensor:
    """The elements in reverse order along these dimensions."""
    return _flip(x, dims=wrap_dims(dims, x.ndim))


def roll(x: Tensor, shifts: int | Ints, dims: int | Ints | None = None) -> Tensor:
    """The elements moved along dimensions, those pushed out coming back at the other end.

    Without `dims`, along all elements in row-major order.
    """
    steps = as_ints(shifts)
    if dims is None or dims == ():
        return reshape(_roll(x.reshape(-1), shifts=steps, dims=(0,)), x.shape)
    axes = as_ints(dims)
    if len(steps) != len(axes):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(axes)}"
        )
    return _roll(x, shifts=steps, dims=tuple([wrap_dim(axis, x.ndim) for axis in axes]))


__all__ = ["clone", "contiguous", "flip", "repeat", "repeat_interleave", "roll", "tile"]
