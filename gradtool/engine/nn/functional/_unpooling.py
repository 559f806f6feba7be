"""Largest elements put back where they were taken from, zeros around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import REAL, TYPE_NAMES, takes
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._windowing import for_each, product

Unpooling = Callable[..., Tensor]


def _unpooling(spatial: int) -> Unpooling:
    @takes(REAL, f"max_unpool{max(spatial, 2)}d")
    def unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Tensor:
        _check(input, indices, spatial)
        size = for_each(kernel_size, spatial, "kernel_size")
        step = for_each(size if stride is None else stride, spatial, "stride")
        ends = for_each(padding, spatial, "padding")
        extents = _extents(tuple(input.shape[-spatial:]), size, step, ends, output_size)
        front = input.shape[:-spatial]
        flat = input.new_zeros((*front, product(extents)))
        places = indices.reshape(*front, -1)
        _check_places(places, extents)
        return flat.scatter(-1, places, input.reshape(*front, -1)).reshape(*front, *extents)

    unpool.__name__ = unpool.__qualname__ = f"max_unpool{spatial}d"
    unpool.__doc__ = f"""The inverse of `max_pool{spatial}d`: zeros where nothing was the largest.

    `indices` are those that the pooling returned. Several extents of the input lead to the same
    one of the pooled; `output_size` says which it was.

    Raises:
        RuntimeError: the shapes do not fit, or an index lies outside.
        ValueError: `output_size` is none that the pooling can have come from.
    """
    return unpool


def _check(input: Tensor, indices: Tensor, spatial: int) -> None:
    if indices.dtype is not _dtypes.int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {TYPE_NAMES[indices.dtype.name]}"
        )
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"Input to max_unpool{spatial}d should be a {spatial + 1}d or {spatial + 2}d Tensor, "
            f"but got a tensor with {input.ndim} dims"
        )
    if input.shape != indices.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({input.shape}) "
            f"but got indices tensor with shape: {indices.shape}"
        )


def _check_places(places: Tensor, extents: Ints) -> None:
    if places._level is not None or not places.numel():
        return
    outside = [
        int(each) for each in (places.min(), places.max()) if not 0 <= each < product(extents)
    ]
    if outside:
        volume = "x".join(map(str, extents))
        raise RuntimeError(
            f"Found an invalid max index: {outside[0]} (output volumes are of size {volume})"
        )


def _extents(pooled: Ints, size: Ints, step: Ints, ends: Ints, wanted: Any) -> Ints:
    """The extents asked for, which lie within one step of those that follow."""
    usual = tuple(
        [(count - 1) * step[at] + size[at] - 2 * ends[at] for at, count in enumerate(pooled)]
    )
    if wanted is None:
        return usual
    wanted = tuple(wanted)
    if len(wanted) == len(pooled) + 2:
        wanted = wanted[2:]
    if len(wanted) != len(pooled):
        raise ValueError(
            f"output_size should be a sequence containing {len(pooled)} or {len(pooled) + 2} "
            f"elements, but it has a length of '{len(wanted)}'"
        )
    least = [usual[at] - step[at] for at in range(len(usual))]
    most = [usual[at] + step[at] for at in range(len(usual))]
    if not all(low < it < high for low, it, high in zip(least, wanted, most)):
        raise ValueError(
            f'invalid output_size "{wanted}" (dim 0 must be between {least[0]} and {most[0]})'
        )
    return wanted


max_unpool1d, max_unpool2d, max_unpool3d = (_unpooling(spatial) for spatial in (1, 2, 3))

__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]
