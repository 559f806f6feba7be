"""Average pooling: means, or p-norms, of windows and of equal regions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import FLOATS, REAL, takes
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._ops.elementwise.elementwise import relu, sign
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._folding import for_each, product
from gradtool.engine.nn.functional._padding import pad
from gradtool.engine.nn.functional._windows import WindowPlan, means_of, plan_windows

Pooling = Callable[..., Any]

_LONG = frozenset({_dtypes.int64})
_AVERAGED = {
    1: (REAL | _LONG, "avg_pool2d"),
    2: (REAL | _LONG, "avg_pool2d"),
    3: (FLOATS | _LONG, "avg_pool3d_out_frame"),
}
"""Dimensions -> the dtypes that torch averages, and the name of its kernel."""


# ---- means ----------------------------------------------------------------------------------


def _avg_pool(spatial: int) -> Pooling:
    means = means_of(f"avg_pool{spatial}d", FLOATS | _LONG)

    @takes(*_AVERAGED[spatial], fused=True)
    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        plan = plan_windows(input, spatial, kernel_size, stride, padding, 1, ceil_mode)
        if divisor_override is None:
            return means(input, plan=plan, divisor=_divisor(plan, count_include_pad))
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        return means(input, plan=plan, divisor=divisor_override)

    pool.__name__ = pool.__qualname__ = f"avg_pool{spatial}d"
    pool.__doc__ = f"""The mean of each window over the last {spatial} dimensions.

    Padding counts as zeros, or is left out with ``count_include_pad=False``. The windows are
    `stride` apart, by default `kernel_size`. `divisor_override` replaces the window's size as
    the divisor.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return pool


@functools.lru_cache(maxsize=64)
def _divisor(plan: WindowPlan, padding_counts: bool) -> Any:
    """The number of elements that count in each window, as one number where it is that of all."""
    counts = _divisors(plan, padding_counts)
    least = counts.min(initial=product(plan.size))
    return float(least) if (counts == least).all() else counts


def _divisors(plan: WindowPlan, padding_counts: bool) -> Any:
    """Number of elements that count in each window: the product over the dimensions."""
    result = np.ones(())
    for extent, size, step, padding, count in zip(
        plan.extents, plan.size, plan.step, plan.padding, plan.counts
    ):
        start = np.arange(count) * step - padding
        low, high = (-padding, extent + padding) if padding_counts else (0, extent)
        inside = np.minimum(start + size, high) - np.maximum(start, low)
        result = result[..., None] * inside
    return result


# ---- so many regions ------------------------------------------------------------------------


def _adaptive(spatial: int) -> Pooling:
    @takes(REAL, "adaptive_avg_pool3d_cpu" if spatial == 3 else "adaptive_avg_pool2d", fused=True)
    def pool(input: Tensor, output_size: Any) -> Tensor:
        if input.ndim not in (spatial + 1, spatial + 2):
            raise RuntimeError(
                f"adaptive_avg_pool{spatial}d(): Expected {spatial + 1}D or {spatial + 2}D tensor, "
                f"but got {list(input.shape)}"
            )
        return averaged_to(input, wanted_extents(input, output_size, spatial))

    pool.__name__ = pool.__qualname__ = f"adaptive_avg_pool{spatial}d"
    pool.__doc__ = f"""The mean of each equal region of the last {spatial} dimensions.

    An extent of None is unchanged.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return pool


def wanted_extents(input: Tensor, output_size: Any, spatial: int) -> Ints:
    """Number of regions of each of the last dimensions."""
    sizes = output_size if isinstance(output_size, tuple | list) else [output_size] * spatial
    extents = input.shape[-spatial:]
    return tuple([have if want is None else want for want, have in zip(sizes, extents)])


def averaged_to(input: Tensor, sizes: Ints) -> Tensor:
    """Average the last dimensions over equal regions, which may overlap by one element."""
    for back, size in enumerate(reversed(sizes), 1):
        input = along(input, input.ndim - back, _regions(input.shape[-back], size))
    return input


def along(input: Tensor, dim: int, matrix: Any) -> Tensor:
    """Apply a constant matrix to one dimension."""
    if dim == input.ndim - 1:
        return matmul(input, input.new_tensor(matrix.T))
    front, behind = input.shape[:dim], input.shape[dim + 1 :]
    rows = input.reshape(*front, input.shape[dim], product(behind))
    return matmul(input.new_tensor(matrix), rows).reshape(*front, len(matrix), *behind)


def _regions(extent: int, count: int) -> Any:
    """Matrix whose rows average `count` regions of a dimension."""
    place, region = np.arange(extent), np.arange(count)[:, None]
    start, end = region * extent // count, -(-(region + 1) * extent // count)
    return ((place >= start) & (place < end)) / (end - start)


avg_pool1d, avg_pool2d, avg_pool3d = (_avg_pool(spatial) for spatial in (1, 2, 3))
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (
    _adaptive(spatial) for spatial in (1, 2, 3)
)


_MEANS: dict[int, Callable[..., Tensor]] = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}


def _lp_pool(spatial: int) -> Callable[..., Tensor]:
    def pool(
        input: Tensor,
        norm_type: float,
        kernel_size: Any,
        stride: Any = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        size = for_each(kernel_size, spatial, "kernel_size")
        mean = _MEANS[spatial](input.pow(norm_type), size, stride, 0, ceil_mode)
        # Powers of negative numbers may sum to a negative number or zero, which has no root.
        return (sign(mean) * relu(mean.abs()) * product(size)).pow(1.0 / norm_type)

    pool.__name__ = pool.__qualname__ = f"lp_pool{spatial}d"
    pool.__doc__ = f"""The p-norm of each window over the last {spatial} dimensions.

    As in PyTorch, it is the root of the sum of powers of the entries, not of their magnitudes.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return pool


lp_pool1d, lp_pool2d, lp_pool3d = (_lp_pool(spatial) for spatial in (1, 2, 3))


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide by ``(k + alpha * m) ** beta``, m the mean square of `size` neighbouring channels.

    Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks", 2012.

    Raises:
        ValueError: the input is not of shape (N, C, …).
    """
    if input.ndim < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input "
            f"(got {input.ndim} dimensions)"
        )
    if not input.numel():
        return input
    square = (input * input).unsqueeze(1)
    if input.ndim > 3:
        around = pad(square.reshape(*square.shape[:4], -1), [0, 0, 0, 0, *_around(size)])
        mean = avg_pool3d(around, (size, 1, 1), stride=1)
    else:
        mean = avg_pool2d(pad(square, [0, 0, *_around(size)]), (size, 1), stride=1)
    scale: Tensor = (mean.reshape(input.shape) * alpha + k).pow(beta)
    return input / scale


def _around(size: int) -> list[int]:
    """Split a window of `size` channels into those before and those after its centre."""
    return [size // 2, (size - 1) // 2]


node_name(saving("SqueezeBackward1", "input"))(avg_pool1d)
node_name("SqueezeBackward1")(adaptive_avg_pool1d)


def _adaptive_mean_node(_input: Any, output_size: Any) -> str:
    ones = output_size in (1, (1, 1), [1, 1])
    return "MeanBackward1" if ones else "AdaptiveAvgPool2DBackward0"


node_name(_adaptive_mean_node)(adaptive_avg_pool2d)
node_name("AdaptiveAvgPool3DBackward0")(adaptive_avg_pool3d)

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool1d", "avg_pool2d",
    "avg_pool3d", "local_response_norm", "lp_pool1d", "lp_pool2d", "lp_pool3d",
]  # fmt: skip
