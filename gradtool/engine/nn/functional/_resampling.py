"""Images of another size: each dimension in turn, as a matrix of interpolation weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import REAL, check_taken
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._pooling import along, averaged_to

_CUBIC = -0.75
"""The free parameter of cubic convolution, as PyTorch has it."""

_BYTES = REAL | {_dtypes.uint8}
_TAKEN = {
    "nearest": (_BYTES, "upsample_nearest"),
    "nearest-exact": (_BYTES, "upsample_nearest"),
    "bilinear": (_BYTES, "upsample_bilinear2d"),
    "bicubic": (_BYTES, "compute_indices_weights_cubic"),
    "linear": (REAL, "compute_indices_weights_linear"),
    "trilinear": (REAL, "compute_indices_weights_linear"),
    "area": (REAL, "adaptive_avg_pool2d"),
}
"""Mode -> the dtypes that torch has it for, and the name of its kernel."""

_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Images (N, C, …) in another size, given as extents or as a factor.

    Args:
        input: Of three to five dimensions.
        size: The extents, one for all dimensions or one for each.
        scale_factor: Instead of `size`.
        mode: ``nearest``, ``nearest-exact``, ``linear``, ``bilinear``, ``bicubic``,
            ``trilinear`` or ``area``.
        align_corners: Whether the corners' centres, not their edges, keep their place.
        recompute_scale_factor: Whether the factor is what the rounded extents make it.
        antialias: Not to be had here.

    Raises:
        ValueError: both or none of `size` and `scale_factor` are given, or they do not fit.
        NotImplementedError: there is no such mode for so many dimensions, or `antialias`.
    """
    if align_corners is not None and mode not in _RANKS:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear"
        )
    _check_mode(input, mode, antialias)
    check_taken(input, *_TAKEN[mode])
    sizes, factors = _sizes(input, size, scale_factor)
    if mode == "area":
        return averaged_to(input, sizes)
    if recompute_scale_factor:
        factors = (None,) * len(sizes)
    for dim, (extent, factor) in enumerate(zip(sizes, factors), 2):
        input = _resampled(input, dim, extent, factor, mode, bool(align_corners))
    return input


def _check_mode(input: Tensor, mode: str, antialias: bool) -> None:
    known = mode in ("nearest", "nearest-exact", "area") and 3 <= input.ndim <= 5
    if not known and _RANKS.get(mode) != input.ndim:
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{input.ndim}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | "
            f"area | nearest-exact (got {mode})"
        )
    if antialias:
        raise NotImplementedError("interpolate: gradtool's engine has no antialias=True")


def _sizes(input: Tensor, size: Any, scale_factor: Any) -> tuple[Ints, tuple[Any, ...]]:
    """(extents, factors); no factor where the extent says all."""
    spatial = input.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined")
    given = size if size is not None else scale_factor
    each = tuple(given) if isinstance(given, tuple | list) else (given,) * spatial
    if len(each) != spatial:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(input.shape[2:])} and output size of {given}."
        )
    if size is not None:
        return each, (None,) * spatial
    return tuple([math.floor(have * by) for have, by in zip(input.shape[2:], each)]), each


def _resampled(
    input: Tensor, dim: int, extent: int, factor: Any, mode: str, align_corners: bool
) -> Tensor:
    have = input.shape[dim]
    if mode.startswith("nearest"):
        half = 0.5 if mode == "nearest-exact" else 0.0
        step = have / extent if factor is None else 1 / factor
        places = np.floor((np.arange(extent) + half) * step).clip(0, have - 1)
        return input.index_select(dim, input.new_tensor(places, dtype=_dtypes.int64))
    if extent == have and (factor is None or factor == 1):
        return input.clone()
    sources = _sources(have, extent, factor, align_corners)
    weights = _cubic if mode == "bicubic" else _linear
    return along(input, dim, weights(sources, have))


def _sources(have: int, extent: int, factor: Any, align_corners: bool) -> Any:
    """Where in the input each element of the output lies."""
    places = np.arange(extent)
    if align_corners:
        return places * ((have - 1) / (extent - 1) if extent > 1 else 0.0)
    return (places + 0.5) * (have / extent if factor is None else 1 / factor) - 0.5


def _linear(sources: Any, have: int) -> Any:
    """Each row the weights of the two neighbours."""
    sources = sources.clip(0)
    first = np.minimum(np.floor(sources).astype(int), have - 1)
    part = sources - first
    return _matrix(have, [(first, 1 - part), (first + 1, part)])


def _cubic(sources: Any, have: int) -> Any:
    """Each row the weights of the four neighbours (Keys, 1981)."""
    first = np.floor(sources).astype(int)
    part = sources - first
    return _matrix(have, [(first + shift, _kernel(abs(part - shift))) for shift in range(-1, 3)])


def _kernel(distance: Any) -> Any:
    a, x = _CUBIC, distance
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    return np.where(x <= 1, near, ((x - 5) * x + 8) * x * a - 4 * a)


def _matrix(have: int, taps: list[tuple[Any, Any]]) -> Any:
    """Weights at their places; a place beyond the ends is the end's."""
    matrix = np.zeros((len(taps[0][0]), have))
    for places, weights in taps:
        np.add.at(matrix, (np.arange(len(places)), places.clip(0, have - 1)), weights)
    return matrix


def _named(mode: str, align_corners: bool | None) -> Callable[..., Tensor]:
    def upsample(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
        return interpolate(input, size, scale_factor, mode, align_corners)

    upsample.__name__ = upsample.__qualname__ = f"upsample_{mode}"
    upsample.__doc__ = f"`interpolate` in the mode ``{mode}``."
    return upsample


upsample_nearest = _named("nearest", None)
upsample_bilinear = _named("bilinear", align_corners=True)
upsample = interpolate

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]
