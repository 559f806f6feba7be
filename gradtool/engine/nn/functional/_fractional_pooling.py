"""Fractional maximum pooling: windows at pseudorandom, increasing positions (Graham, 2014)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import REAL, takes
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.creation.random import rand
from gradtool.engine._ops.elementwise.elementwise import trunc
from gradtool.engine._ops.reductions.extremum import max as max_along
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._folding import product
from gradtool.engine.nn.functional._max_pooling import with_indices
from gradtool.engine.nn.functional._pooling import Pooling


def _fractional(spatial: int) -> Pooling:
    name = f"fractional_max_pool{spatial}d"

    @node_name(f"FractionalMaxPool{spatial}DBackward0")
    @takes(REAL, f"{name}_out_frame", fused=True)
    def pool(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        counts = _counts(name, input, output_size, output_ratio, spatial)
        size = _each(kernel_size, spatial)
        _check(name, input, size, counts)
        batch = input if input.ndim == spatial + 2 else input.unsqueeze(0)
        samples = _random_samples
        if samples is None:
            samples = rand(*batch.shape[:2], spatial, dtype=input.dtype, device=input.device)
        places = _places(tuple(batch.shape[2:]), size, counts, samples)
        flat = batch.reshape(*batch.shape[:2], product(batch.shape[2:]))
        members = flat.gather(2, places.flatten(2)).reshape(places.shape)
        found = max_along(members, -1)
        indices = places.gather(-1, found.indices.unsqueeze(-1)).squeeze(-1)
        shape = [*input.shape[:-spatial], *counts]
        values = found.values.reshape(shape)
        return (values, indices.reshape(shape)) if return_indices else values

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""The largest element of windows over the last {spatial} dimensions.

    The windows have `kernel_size` and start at random, so that `output_size` of them, or that
    share of the extents, cover the input. With `return_indices`, also the index in the flattened
    last dimensions.

    Raises:
        ValueError: neither size nor ratio is given.
        RuntimeError: the shapes do not fit.
    """
    return pool


def _each(value: Any, count: int) -> Any:
    return tuple(value) if isinstance(value, tuple | list) else (value,) * count


def _counts(name: str, input: Tensor, size: Any, ratio: Any, spatial: int) -> Ints:
    if size is not None:
        return tuple(_each(size, spatial))
    if ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    ratios = _each(ratio, spatial)
    return tuple([int(have * by) for have, by in zip(input.shape[-spatial:], ratios)])


def _check(name: str, input: Tensor, size: Ints, counts: Ints) -> None:
    spatial = len(size)
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}: Expected {spatial + 1}D or {spatial + 2}D tensor, but got: "
            f"{list(input.shape)}"
        )
    axes = ("height", "width") if spatial == 2 else ("time", "height", "width")
    for axis, have, need, count in zip(axes, input.shape[-spatial:], size, counts):
        if count + need - 1 > have:
            raise RuntimeError(
                f"{name}(): pool {axis} {need} too large relative to input {axis} {have}"
            )


def _places(extents: Ints, size: Ints, counts: Ints, samples: Tensor) -> Tensor:
    """Indices in the flattened image of the members of each window: (N, C, *windows, members).

    The samples of the last dimension of an image come first, those of a volume last.
    """
    spatial = len(size)
    order = reversed(range(spatial)) if spatial == 2 else range(spatial)
    place: Any = 0
    for at, which in zip(range(spatial), order):
        starts = _starts(extents[at], size[at], counts[at], samples[..., which])
        apart = [*starts.shape[:2], *[1] * (2 * spatial)]
        apart[2 + at] = counts[at]
        within = [1] * (2 + 2 * spatial)
        within[2 + spatial + at] = size[at]
        offsets = arange(size[at], device=starts.device).reshape(within)
        place = place * extents[at] + starts.reshape(apart) + offsets
    full: Tensor = place
    return full.flatten(2 + spatial)


def _starts(extent: int, size: int, count: int, sample: Tensor) -> Tensor:
    """Starts of the windows along a dimension: (N, C, count)."""
    steps = arange(count, dtype=sample.dtype, device=sample.device)
    alpha = (extent - size) / (count - 1) if count > 1 else 0.0
    drawn = sample.unsqueeze(-1)
    moved: Tensor = trunc((steps + drawn) * alpha) - trunc(drawn * alpha)
    last = arange(count, device=sample.device) == count - 1
    return moved.masked_fill(last, extent - size).to(_dtypes.int64)


fractional_max_pool2d, fractional_max_pool3d = _fractional(2), _fractional(3)
fractional_max_pool2d_with_indices: Callable[..., Any] = with_indices(fractional_max_pool2d)
fractional_max_pool3d_with_indices: Callable[..., Any] = with_indices(fractional_max_pool3d)

__all__ = [
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
]  # fmt: skip
