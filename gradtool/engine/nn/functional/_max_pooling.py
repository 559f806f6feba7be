"""Maximum pooling, of windows and of equal regions, and its inverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import MEASURED, REAL, TYPE_NAMES, check_taken, takes
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._ops.creation.literals import tensor
from gradtool.engine._ops.reductions.extremum import max as max_along
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._folding import for_each, product
from gradtool.engine.nn.functional._pooling import Pooling, wanted_extents
from gradtool.engine.nn.functional._windows import largest_of, plan_windows

_LARGEST_OF = {
    1: (REAL, "max_pool1d_impl"), 2: (MEASURED, "max_pool2d"), 3: (MEASURED, "max_pool3d"),
}  # fmt: skip
"""Dimensions -> the dtypes that torch compares, and the name of its kernel."""


def _max_pool(spatial: int) -> Pooling:
    largest = largest_of(f"max_pool{spatial}d_with_indices", _LARGEST_OF[spatial][0])

    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        check_taken(input, *_LARGEST_OF[max(spatial, 2) if return_indices else spatial])
        plan = plan_windows(input, spatial, kernel_size, stride, padding, dilation, ceil_mode)
        found = largest(input, plan)
        return found if return_indices else found[0]

    pool.__name__ = pool.__qualname__ = f"max_pool{spatial}d"
    pool.__doc__ = f"""The largest element of each window over the last {spatial} dimensions.

    The windows are `stride` apart, by default `kernel_size`; padding is never chosen. With
    `return_indices`, also its index in the flattened last dimensions.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return pool


def with_indices(pool: Pooling) -> Pooling:
    """Return the same pooling with ``return_indices=True``."""

    def pooled(*args: Any, **named: Any) -> Any:
        return pool(*args, **{**named, "return_indices": True})

    pooled.__name__ = pooled.__qualname__ = f"{pool.__name__}_with_indices"
    pooled.__doc__ = f"`{pool.__name__}` with ``return_indices=True``."
    return pooled


def _adaptive(spatial: int) -> Callable[..., Any]:
    name = f"adaptive_max_pool{spatial}d"

    @takes(REAL, "adaptive_max_pool3d_cpu" if spatial == 3 else "adaptive_max_pool2d", fused=True)
    def pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        if input.ndim not in (spatial + 1, spatial + 2):
            raise RuntimeError(
                f"{name}(): Expected {spatial + 1}D or {spatial + 2}D tensor, but got "
                f"{list(input.shape)}"
            )
        values, places = _region_maxima(input, wanted_extents(input, output_size, spatial))
        return (values, places) if return_indices else values

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""The largest element of equal regions of the last {spatial} dimensions.

    An extent of None is unchanged. With `return_indices`, also its index in these dimensions,
    flattened.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return pool


def _region_maxima(input: Tensor, counts: Ints) -> tuple[Tensor, Tensor]:
    """Return the largest of each region, and its index in the flattened last dimensions."""
    front, extents = input.shape[: -len(counts)], tuple(input.shape[-len(counts) :])
    places, inside = _members(extents, counts)
    flat = input.reshape(*front, int(np.prod(extents)))
    table = tensor(places, device=input.device)
    members = flat.index_select(-1, table.reshape(-1)).reshape(*front, *places.shape)
    lowest = -np.inf if input.is_floating_point() else np.iinfo(input._array.dtype).min
    outside = tensor(~inside, device=input.device)
    found = max_along(members.masked_fill(outside, lowest), -1)
    everywhere = table.expand(*front, *places.shape)
    return found.values, everywhere.gather(-1, found.indices.unsqueeze(-1)).squeeze(-1)


def _members(extents: Ints, counts: Ints) -> tuple[Any, Any]:
    """Indices of each region's members, padded to one length, and a mask of real ones."""
    places, inside = np.zeros(1, dtype=np.int64), np.ones(1, dtype=bool)
    for extent, count in zip(extents, counts):
        own, counting = _members_along(extent, count)
        places = places[..., None, :, None] * extent + own[:, None, :]
        inside = inside[..., None, :, None] & counting[:, None, :]
        places = places.reshape(*places.shape[:-3], count, -1)
        inside = inside.reshape(places.shape)
    return places, inside


def _members_along(extent: int, count: int) -> tuple[Any, Any]:
    """Do the same for one dimension: arrays of (regions, members)."""
    region = np.arange(count)[:, None]
    start, end = region * extent // count, -(-(region + 1) * extent // count)
    place = start + np.arange(int((end - start).max(initial=0)))
    return np.minimum(place, extent - 1), place < end


max_pool1d, max_pool2d, max_pool3d = (_max_pool(spatial) for spatial in (1, 2, 3))
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    with_indices, (max_pool1d, max_pool2d, max_pool3d)
)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (
    _adaptive(spatial) for spatial in (1, 2, 3)
)
(
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices,
) = map(with_indices, (adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d))


Unpooling = Callable[..., Tensor]


def _max_unpool(spatial: int) -> Unpooling:
    @takes(REAL, f"max_unpool{max(spatial, 2)}d", fused=True)
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
        extents = _output_extents(tuple(input.shape[-spatial:]), size, step, ends, output_size)
        front = input.shape[:-spatial]
        flat = input.new_zeros((*front, product(extents)))
        count = product(input.shape[-spatial:])
        places = indices.reshape(*front, count)
        _check_places(places, extents)
        return flat.scatter(-1, places, input.reshape(*front, count)).reshape(*front, *extents)

    unpool.__name__ = unpool.__qualname__ = f"max_unpool{spatial}d"
    unpool.__doc__ = f"""The inverse of `max_pool{spatial}d`: zeros except at the largest elements.

    `indices` are those that the pooling returned. Inputs of several sizes pool to the same size;
    `output_size` selects one.

    Raises:
        RuntimeError: the shapes do not fit, or an index lies outside.
        ValueError: the pooling cannot have come from `output_size`.
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
            f"Expected shape of indices to be same as that of the input tensor "
            f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
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


def _output_extents(pooled: Ints, size: Ints, step: Ints, ends: Ints, wanted: Any) -> Ints:
    """Return the requested extents, which must lie within a stride of the default ones."""
    usual = tuple(
        [(count - 1) * step[at] + size[at] - 2 * ends[at] for at, count in enumerate(pooled)]
    )
    if wanted is None:
        return usual
    extents: Ints = tuple(wanted)
    if len(extents) == len(pooled) + 2:
        extents = extents[2:]
    if len(extents) != len(pooled):
        raise ValueError(
            f"output_size should be a sequence containing {len(pooled)} or {len(pooled) + 2} "
            f"elements, but it has a length of '{len(extents)}'"
        )
    least = [usual[at] - step[at] for at in range(len(usual))]
    most = [usual[at] + step[at] for at in range(len(usual))]
    if not all(low < it < high for low, it, high in zip(least, extents, most)):
        raise ValueError(
            f'invalid output_size "{extents}" (dim 0 must be between {least[0]} and {most[0]})'
        )
    return extents


max_unpool1d, max_unpool2d, max_unpool3d = (_max_unpool(spatial) for spatial in (1, 2, 3))


for _function, _node in (
    (max_pool1d, "SqueezeBackward1"),
    (adaptive_max_pool1d, "SqueezeBackward1"),
    (adaptive_max_pool2d, "AdaptiveMaxPool2DBackward0"),
    (adaptive_max_pool3d, "AdaptiveMaxPool3DBackward0"),
    (max_unpool1d, "SqueezeBackward1"),
    (max_unpool2d, "MaxUnpool2DBackward0"),
    (max_unpool3d, "MaxUnpool3DBackward0"),
):
    node_name(saving(_node, "input"))(_function)

__all__ = [
    "adaptive_max_pool1d", "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices",
    "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d",
    "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip
