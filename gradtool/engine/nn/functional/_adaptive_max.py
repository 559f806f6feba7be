"""The largest element of each of so many equal regions, which may overlap by one element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import REAL, takes
from gradtool.engine._ops.creation.literals import tensor
from gradtool.engine._ops.reductions.extremum import max as max_along
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._pooling import wanted_extents, with_indices


def _adaptive(spatial: int) -> Callable[..., Any]:
    name = f"adaptive_max_pool{spatial}d"

    @takes(REAL, "adaptive_max_pool3d_cpu" if spatial == 3 else "adaptive_max_pool2d")
    def pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        if input.ndim not in (spatial + 1, spatial + 2):
            raise RuntimeError(
                f"{name}(): Expected {spatial + 1}D or {spatial + 2}D tensor, but got "
                f"{list(input.shape)}"
            )
        values, places = _largest(input, wanted_extents(input, output_size, spatial))
        return (values, places) if return_indices else values

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""The largest element of equal regions of the last {spatial} dimensions.

    An extent of None stays as it is. With `return_indices`, also where in these dimensions,
    counted in one, it was.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return pool


def _largest(input: Tensor, counts: Ints) -> tuple[Tensor, Tensor]:
    """The largest of each region, and where it is, the last dimensions counted in one."""
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
    """Of every region all places, filled up to one number, and which of them count."""
    places, inside = np.zeros(1, dtype=np.int64), np.ones(1, dtype=bool)
    for extent, count in zip(extents, counts):
        own, counting = _along(extent, count)
        places = places[..., None, :, None] * extent + own[:, None, :]
        inside = inside[..., None, :, None] & counting[:, None, :]
        places = places.reshape(*places.shape[:-3], count, -1)
        inside = inside.reshape(places.shape)
    return places, inside


def _along(extent: int, count: int) -> tuple[Any, Any]:
    """The same for one dimension: arrays of (regions, members)."""
    region = np.arange(count)[:, None]
    start, end = region * extent // count, -(-(region + 1) * extent // count)
    place = start + np.arange(int((end - start).max(initial=0)))
    return np.minimum(place, extent - 1), place < end


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (
    _adaptive(spatial) for spatial in (1, 2, 3)
)
(
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices,
) = map(with_indices, (adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d))

__all__ = [
    "adaptive_max_pool1d", "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices",
]  # fmt: skip
