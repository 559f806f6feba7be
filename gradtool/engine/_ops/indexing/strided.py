"""Views by strides of one's own, and bins: the places of values among boundaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dims import Ints, as_ints
from gradtool.engine._ops.core.kinds import constant, linear
from gradtool.engine._ops.core.unsupported import (
    refusing_bool_and_complex,
    refusing_complex,
    refusing_integers,
)
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.indexing.indexing import index_put
from gradtool.engine._ops.indexing.slicing import index_add
from gradtool.engine._tensor import Tensor, alias


def _at_strides(x: Any, *, size: Ints, stride: Ints, offset: int) -> Any:
    flat = x.reshape(-1)
    steps = tuple([step * x.itemsize for step in stride])
    return module_of(x).lib.stride_tricks.as_strided(flat[offset:], size, steps)


def _places(size: Ints, stride: Ints, offset: int, device: Any) -> Tensor:
    """Where in memory each element lies."""
    places: Any = offset
    for position, (extent, step) in enumerate(zip(size, stride)):
        behind = [1] * (len(size) - 1 - position)
        places = arange(extent, device=device).reshape(-1, *behind) * step + places
    return places.reshape(-1) if size else arange(offset, offset + 1, device=device)


def _summed_in_place(g: Tensor, x_shape: Ints, size: Ints, stride: Ints, offset: int) -> Tensor:
    count = int(np.prod(x_shape))
    flat = index_add(g.new_zeros(count), 0, _places(size, stride, offset, g.device), g.reshape(-1))
    return flat.reshape(x_shape)


_as_strided = linear("as_strided", _at_strides, _summed_in_place, is_view=True)


def as_strided(x: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the memory of `x`, with an extent and a step, in elements, for each dimension.

    Raises:
        RuntimeError: sizes and strides are not as many, or reach beyond the memory.
    """
    size, stride = as_ints(size), as_ints(stride)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError("as_strided: Negative strides are not supported at the moment")
    whole, start = _memory_of(x)
    offset = start if storage_offset is None else storage_offset
    reach = offset + sum((extent - 1) * step for extent, step in zip(size, stride)) + 1
    if 0 not in size and reach > whole.numel():
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset} are "
            f"out of bounds for storage of size {whole.numel()}"
        )
    return _as_strided(whole, size=size, stride=stride, offset=offset)


def as_strided_scatter(
    x: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A copy in which `src` is what `as_strided` would show.

    Raises:
        RuntimeError: `src` has another shape, or sizes and strides do not fit.
    """
    size, stride = as_ints(size), as_ints(stride)
    if tuple(src.shape) != tuple(as_strided(x.detach(), size, stride, storage_offset).shape):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(size)}"
        )
    places = _places(size, stride, storage_offset or 0, x.device)
    return index_put(x.reshape(-1), (places,), src.reshape(-1)).reshape(x.shape)


def _memory_of(x: Tensor) -> tuple[Tensor, int]:
    """A contiguous tensor over all the memory that `x` is part of, and where `x` starts."""
    base = x._base
    if x._level is not None or (base is None and x.is_contiguous()):
        return x.contiguous(), 0
    if base is None or not base.is_contiguous():
        if x._requires_grad and modes.grad:
            return x.contiguous(), 0
        base = alias(_owner(x._array).reshape(-1, order="A"), x._shared_storage())
    return base, (x.data_ptr() - base.data_ptr()) // x.itemsize


def _owner(array: Any) -> Any:
    """The array whose memory this one shows, through however many views."""
    while type(array.base) is type(array):
        array = array.base
    return array


# ---- bins -----------------------------------------------------------------------------------


_bucket = constant(
    "bucketize",
    refusing_bool_and_complex(
        "searchsorted_out_cpu",
        lambda x, bounds, *, right, dtype: np.searchsorted(
            bounds, x, side="right" if right else "left"
        ).astype(dtype),
    ),
)


def bucketize(
    x: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """How many of the sorted boundaries lie below each value; with `right`, those equal too.

    Raises:
        RuntimeError: the boundaries are not a vector.
    """
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    values = x if isinstance(x, Tensor) else boundaries.new_tensor(x)
    return _bucket(values, boundaries, right=right, dtype=np.int32 if out_int32 else np.int64)


def _histogram(x: Any, *, bins: int, low: float, high: float) -> Any:
    if low == high == 0 and x.size:
        low, high = x.min().item(), x.max().item()
    if low == high:
        low, high = low - 1, high + 1
    return np.histogram(x, bins, (low, high))[0].astype(x.dtype)


_bins = constant(
    "histc",
    refusing_integers(
        "histogram_cpu",
        refusing_complex(
            "histogram_cpu",
            _histogram,
        ),
    ),
)


def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements lie in each of `bins` equal parts of [min, max]; 0, 0 for all elements.

    Raises:
        RuntimeError: there is no bin, or the bounds are in the wrong order.
    """
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    if min > max:
        raise RuntimeError("max must be larger than min")
    return _bins(x, bins=bins, low=min, high=max)


__all__ = ["as_strided", "as_strided_scatter", "bucketize", "histc"]
