"""Pooling: the mean or the largest of each window, or of each of so many equal regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import FLOATS, MEASURED, REAL, check_taken, takes
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.reductions.extremum import max as max_along
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._padding import pad
from gradtool.engine.nn.functional._windowing import for_each, positions, product, windows

Pooling = Callable[..., Any]

_LONG = frozenset({_dtypes.int64})
_AVERAGED = {
    1: (REAL | _LONG, "avg_pool2d"),
    2: (REAL | _LONG, "avg_pool2d"),
    3: (FLOATS | _LONG, "avg_pool3d_out_frame"),
}
_LARGEST_OF = {
    1: (REAL, "max_pool1d_impl"), 2: (MEASURED, "max_pool2d"), 3: (MEASURED, "max_pool3d"),
}  # fmt: skip
"""Dimensions -> the dtypes that torch averages, or compares, and the name of its kernel."""


class _Plan(NamedTuple):
    """Windows over the last dimensions, one entry for each of these."""

    size: Ints
    step: Ints
    padding: Ints
    dilation: Ints
    extents: Ints
    """Of the input."""
    counts: Ints
    """How many windows there are."""

    @property
    def ends(self) -> list[int]:
        """How far the input is to be padded for all windows to fit, the last dimension first."""
        ends = []
        for extent, size, step, padding, apart, count in reversed(
            [*zip(self.extents, self.size, self.step, self.padding, self.dilation, self.counts)]
        ):
            reach = (count - 1) * step + apart * (size - 1) + 1
            ends += [padding, reach - extent - padding]
        return ends


def _planned(
    input: Tensor, spatial: int, size: Any, step: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> _Plan:
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"Expected {spatial + 1}D or {spatial + 2}D input for pooling over {spatial} "
            f"dimensions, but got input of size: {list(input.shape)}"
        )
    sizes = for_each(size, spatial, "kernel_size")
    steps = for_each(sizes if step is None or step == [] else step, spatial, "stride")
    pads, apart = for_each(padding, spatial, "padding"), for_each(dilation, spatial, "dilation")
    if any(each > extent // 2 for each, extent in zip(pads, sizes)):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={pads[0]}, "
            f"kernel_size={sizes[0]} and dilation={apart[0]}"
        )
    extents = tuple(input.shape[-spatial:])
    counts = tuple(
        [_count(*numbers, ceil_mode) for numbers in zip(extents, sizes, steps, pads, apart)]
    )
    if any(count < 1 for count in counts):
        raise RuntimeError(
            f"Given input size: {extents}. Calculated output size: {counts}. Output size is too "
            "small"
        )
    return _Plan(sizes, steps, pads, apart, extents, counts)


def _count(extent: int, size: int, step: int, padding: int, apart: int, ceil_mode: bool) -> int:
    """With `ceil_mode`, a last window may reach beyond the end, but has to start before it."""
    padded = extent + 2 * padding
    if not ceil_mode:
        return positions(padded, size, step, apart)
    count = -(-(padded - apart * (size - 1) - 1) // step) + 1
    return count - 1 if (count - 1) * step >= extent + padding else count


def _windows_of(input: Tensor, plan: _Plan, value: float) -> Tensor:
    """The elements of every window in one last dimension."""
    padded = pad(input, plan.ends, value=value)
    taken = windows(padded, plan.size, plan.step, plan.dilation)
    return taken.reshape(*input.shape[: -len(plan.size)], *plan.counts, product(plan.size))


# ---- means ----------------------------------------------------------------------------------


def _averaging(spatial: int) -> Pooling:
    @takes(*_AVERAGED[spatial])
    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        plan = _planned(input, spatial, kernel_size, stride, padding, 1, ceil_mode)
        total = _windows_of(input, plan, 0.0).sum(-1)
        if divisor_override is not None:
            if divisor_override == 0:
                raise RuntimeError("divisor must be not zero")
            return _shared(total, divisor_override)
        return _shared(total, input.new_tensor(_divisors(plan, count_include_pad)))

    pool.__name__ = pool.__qualname__ = f"avg_pool{spatial}d"
    pool.__doc__ = f"""The mean of each window over the last {spatial} dimensions.

    Padding counts as zeros, or with ``count_include_pad=False`` not at all. The windows are
    `kernel_size` apart unless `stride` says otherwise. `divisor_override` is what the sum is
    divided by instead of the window's size.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return pool


def _shared(total: Tensor, count: Any) -> Tensor:
    """Divided; of integers, without the fraction."""
    rounding = None if total.dtype.is_differentiable else "trunc"
    shared: Tensor = total.div(count, rounding_mode=rounding)
    return shared


def _divisors(plan: _Plan, padding_counts: bool) -> Any:
    """How many elements of each window count: the product of those in each dimension."""
    result = np.ones(())
    for extent, size, step, padding, count in zip(
        plan.extents, plan.size, plan.step, plan.padding, plan.counts
    ):
        start = np.arange(count) * step - padding
        low, high = (-padding, extent + padding) if padding_counts else (0, extent)
        inside = np.minimum(start + size, high) - np.maximum(start, low)
        result = result[..., None] * inside
    return result


# ---- largest --------------------------------------------------------------------------------


def _maximal(spatial: int) -> Pooling:
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
        plan = _planned(input, spatial, kernel_size, stride, padding, dilation, ceil_mode)
        lowest = -np.inf if input.is_floating_point() else np.iinfo(input._array.dtype).min
        found = max_along(_windows_of(input, plan, lowest), -1)
        if not return_indices:
            return found.values
        return found.values, _indices(found.indices, plan)

    pool.__name__ = pool.__qualname__ = f"max_pool{spatial}d"
    pool.__doc__ = f"""The largest element of each window over the last {spatial} dimensions.

    The windows are `kernel_size` apart unless `stride` says otherwise; padding is never
    chosen. With `return_indices`, also where in the last dimensions, counted in one, it was.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return pool


def with_indices(pool: Pooling) -> Pooling:
    """The same pooling, which returns where the largest elements were whether asked or not."""

    def pooled(*args: Any, **named: Any) -> Any:
        return pool(*args, **{**named, "return_indices": True})

    pooled.__name__ = pooled.__qualname__ = f"{pool.__name__}_with_indices"
    pooled.__doc__ = f"`{pool.__name__}` with ``return_indices=True``."
    return pooled


def _indices(within: Tensor, plan: _Plan) -> Tensor:
    """Positions within the windows as positions in the input, in row-major order."""
    spatial = len(plan.size)
    place: Any = 0
    weight = 1
    for at in reversed(range(spatial)):
        offset = within % plan.size[at] * plan.dilation[at]
        within = within // plan.size[at]
        start = arange(plan.counts[at], device=within.device) * plan.step[at] - plan.padding[at]
        own = start.reshape(-1, *[1] * (spatial - 1 - at)) + offset
        place = place + own * weight
        weight *= plan.extents[at]
    return place.to(_dtypes.int64)


# ---- so many regions ------------------------------------------------------------------------


def _adaptive(spatial: int) -> Pooling:
    @takes(REAL, "adaptive_avg_pool3d_cpu" if spatial == 3 else "adaptive_avg_pool2d")
    def pool(input: Tensor, output_size: Any) -> Tensor:
        if input.ndim not in (spatial + 1, spatial + 2):
            raise RuntimeError(
                f"adaptive_avg_pool{spatial}d(): Expected {spatial + 1}D or {spatial + 2}D tensor, "
                f"but got {list(input.shape)}"
            )
        return averaged_to(input, wanted_extents(input, output_size, spatial))

    pool.__name__ = pool.__qualname__ = f"adaptive_avg_pool{spatial}d"
    pool.__doc__ = f"""The mean of each of so many equal regions of the last {spatial} dimensions.

    An extent of None stays as it is.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return pool


def wanted_extents(input: Tensor, output_size: Any, spatial: int) -> Ints:
    """How many regions there are to be of each of the last dimensions."""
    sizes = output_size if isinstance(output_size, tuple | list) else [output_size] * spatial
    extents = input.shape[-spatial:]
    return tuple([have if want is None else want for want, have in zip(sizes, extents)])


def averaged_to(input: Tensor, sizes: Ints) -> Tensor:
    """The last dimensions in so many regions each, which may overlap by one element."""
    for back, size in enumerate(reversed(sizes), 1):
        input = along(input, input.ndim - back, _regions(input.shape[-back], size))
    return input


def along(input: Tensor, dim: int, matrix: Any) -> Tensor:
    """A matrix of numbers applied to one dimension."""
    weights = input.new_tensor(matrix.T)
    return matmul(input.transpose(dim, -1), weights).transpose(dim, -1)


def _regions(extent: int, count: int) -> Any:
    """The averages of `count` regions of a dimension, one in each row."""
    place, region = np.arange(extent), np.arange(count)[:, None]
    start, end = region * extent // count, -(-(region + 1) * extent // count)
    return ((place >= start) & (place < end)) / (end - start)


avg_pool1d, avg_pool2d, avg_pool3d = (_averaging(spatial) for spatial in (1, 2, 3))
max_pool1d, max_pool2d, max_pool3d = (_maximal(spatial) for spatial in (1, 2, 3))
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    with_indices, (max_pool1d, max_pool2d, max_pool3d)
)
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (
    _adaptive(spatial) for spatial in (1, 2, 3)
)

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool1d_with_indices", "max_pool2d",
    "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices",
]  # fmt: skip
