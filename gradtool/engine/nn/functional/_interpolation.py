"""Interpolation of images to other extents: each dimension by a matrix of weights."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import REAL, check_taken
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._pooling import along, averaged_to

CUBIC = -0.75
"""Free parameter of cubic convolution; PyTorch uses this value."""
_SMOOTH_CUBIC = -0.5
"""The same with `antialias`."""

_BYTES = REAL | {_dtypes.uint8}
_TAKEN = {
    "nearest": (_BYTES, "upsample_nearest"),
    "nearest-exact": (_BYTES, "upsample_nearest"),
    "bilinear": (_BYTES, "upsample_bilinear2d"),
    "bicubic": (_BYTES, "compute_indices_weights_cubic"),
    "lanczos": (REAL, "upsample_lanczos2d_aa"),
    "linear": (REAL, "compute_indices_weights_linear"),
    "trilinear": (REAL, "compute_indices_weights_linear"),
    "area": (REAL, "adaptive_avg_pool2d"),
}
"""Mode -> the dtypes that torch supports, and the name of its kernel."""

_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "lanczos": 4, "trilinear": 5}
_WITHOUT_CORNERS = ("nearest", "area", "nearest-exact")

_NODES_BY_MODE = {
    "nearest": "Nearest", "nearest-exact": "NearestExact", "linear": "Linear",
    "bilinear": "Bilinear", "bicubic": "Bicubic", "trilinear": "Trilinear", "lanczos": "Lanczos",
}  # fmt: skip
_AREA_NODES = {4: "AdaptiveAvgPool2DBackward0", 5: "AdaptiveAvgPool3DBackward0"}


def _interpolation_node(
    images: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    *_: Any,
    antialias: bool = False,
    **__: Any,
) -> str | None:
    if mode == "area":
        return _AREA_NODES.get(images.ndim)
    smooth = "Aa" if antialias else ""
    return f"Upsample{_NODES_BY_MODE[mode]}{images.ndim - 2}D{smooth}Backward0"


@node_name(_interpolation_node)
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize images (N, C, …) to given extents or by a factor.

    Args:
        input: Of three to five dimensions.
        size: The extents, one for all dimensions or one for each.
        scale_factor: Given instead of `size`.
        mode: ``nearest``, ``nearest-exact``, ``linear``, ``bilinear``, ``bicubic``,
            ``trilinear``, ``lanczos`` or ``area``.
        align_corners: Keep the corners' centres in place, not their edges.
        recompute_scale_factor: Compute the factor from the rounded extents.
        antialias: Widen the filter where the image shrinks.

    Raises:
        ValueError: both or none of `size` and `scale_factor` are given, or they do not fit, or the
            mode does not take an option.
        NotImplementedError: the mode does not take that many dimensions.
    """
    if align_corners is not None and mode in _WITHOUT_CORNERS:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear"
        )
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    sizes, factors = _sizes(input, size, scale_factor)
    _check_mode(input, mode, bool(align_corners), antialias)
    check_taken(input, *_TAKEN[mode])
    if mode == "area":
        return averaged_to(input, sizes)
    _check_extents(input, sizes)
    if recompute_scale_factor:
        factors = (None,) * len(sizes)
    for dim, (extent, factor) in enumerate(zip(sizes, factors), 2):
        input = _resample(input, dim, extent, factor, mode, bool(align_corners), antialias)
    return input


def _check_mode(input: Tensor, mode: str, align_corners: bool, antialias: bool) -> None:
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    rank = _RANKS.get(mode)
    if rank == input.ndim or (mode in _WITHOUT_CORNERS and 3 <= input.ndim <= 5):
        if mode == "lanczos" and align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if mode == "lanczos" and not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
        return
    if mode in ("linear", "bilinear", "trilinear") and 3 <= input.ndim <= 5:
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {rank}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the "
        "modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact "
        f"(got {mode})"
    )


def _check_extents(input: Tensor, sizes: Ints) -> None:
    """Refuse empty images, and extents of zero."""
    if 0 in input.shape[2:] or min(sizes) <= 0:
        axes = "DHW"[-len(sizes) :]
        have, want = (
            ", ".join(f"{axis}: {extent}" for axis, extent in zip(axes, extents))
            for extents in (input.shape[2:], sizes)
        )
        also = " and" if len(sizes) == 1 else ""
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({have}){also} output "
            f"({want})"
        )
    if not input.shape[1]:
        raise RuntimeError(
            f"Non-empty {input.ndim}D data tensor expected but got a tensor with sizes "
            f"{list(input.shape)}"
        )


def _sizes(input: Tensor, size: Any, scale_factor: Any) -> tuple[Ints, tuple[Any, ...]]:
    """Return extents and factors; a factor is None where the extent determines it."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    spatial = input.ndim - 2
    if size is None:
        each = _for_each(input, scale_factor, "scale_factor", "scale_factor of shape", "(s1, s2")
        return tuple([math.floor(have * by) for have, by in zip(input.shape[2:], each)]), each
    each = _for_each(input, size, "output", "output size of", "(o1, o2")
    if not all(isinstance(extent, int | np.integer) for extent in each):
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, "
            f"int], but got size with types {[type(extent) for extent in each]}"
        )
    return each, (None,) * spatial


def _for_each(input: Tensor, given: Any, name: str, words: str, letters: str) -> tuple[Any, ...]:
    spatial = input.ndim - 2
    if not isinstance(given, tuple | list):
        return (given,) * spatial
    if len(given) != spatial:
        other = "output size" if name == "output" else name
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(input.shape[2:])} and {words} {given}. Please provide "
            f"input tensor in (N, C, d1, d2, ...,dK) format and {other} in {letters}, "
            f"...,{letters[1]}K) format."
        )
    return tuple(given)


def _resample(
    input: Tensor, dim: int, extent: int, factor: Any, mode: str, align_corners: bool,
    antialias: bool,
) -> Tensor:  # fmt: skip
    have = input.shape[dim]
    if mode.startswith("nearest"):
        half = 0.5 if mode == "nearest-exact" else 0.0
        step = have / extent if factor is None else 1 / factor
        places = np.floor((np.arange(extent) + half) * step).clip(0, have - 1)
        return input.index_select(dim, input.new_tensor(places, dtype=_dtypes.int64))
    if antialias and extent != have:
        step = _step(have, extent, factor, align_corners)
        return along(input, dim, _smooth(have, extent, step, *_FILTERS[mode]))
    if extent == have and (antialias or factor is None or factor == 1):
        return input.clone()
    step = _step(have, extent, factor, align_corners)
    small = have * extent <= _KEPT_ELEMENTS
    weigh = _weights if small else _weights.__wrapped__
    return along(input, dim, weigh(have, extent, step, align_corners, mode == "bicubic"))


_KEPT_ELEMENTS = 2**16
"""The largest matrix of weights that is kept for the next image: half a megabyte."""


@functools.lru_cache(maxsize=16)
def _weights(have: int, extent: int, step: float, align_corners: bool, cubic: bool) -> Any:
    """Matrix whose rows weight the neighbours of each element of the output."""
    sources = _sources(extent, step, align_corners)
    return _cubic(sources, have) if cubic else _linear(sources, have)


def _step(have: int, extent: int, factor: Any, align_corners: bool) -> float:
    """Distance in the input of two neighbours of the output."""
    if align_corners:
        return (have - 1) / (extent - 1) if extent > 1 else 0.0
    return have / extent if factor is None else 1 / float(factor)


def _sources(extent: int, step: float, align_corners: bool) -> Any:
    """Position in the input of each element of the output."""
    places = np.arange(extent)
    return places * step if align_corners else (places + 0.5) * step - 0.5


def _linear(sources: Any, have: int) -> Any:
    """Matrix whose rows weight the two neighbours."""
    sources = sources.clip(0)
    first = np.minimum(np.floor(sources).astype(int), have - 1)
    part = sources - first
    return _matrix(have, [(first, 1 - part), (first + 1, part)])


def _cubic(sources: Any, have: int) -> Any:
    """Matrix whose rows weight the four neighbours (Keys, 1981)."""
    first = np.floor(sources).astype(int)
    part = sources - first
    return _matrix(
        have, [(first + shift, _cubic_filter(part - shift, CUBIC)) for shift in range(-1, 3)]
    )


def _matrix(have: int, taps: list[tuple[Any, Any]]) -> Any:
    """Matrix with weights at their positions; positions beyond the ends move to the end."""
    matrix = np.zeros((len(taps[0][0]), have))
    for places, weights in taps:
        np.add.at(matrix, (np.arange(len(places)), places.clip(0, have - 1)), weights)
    return matrix


# ---- filters that widen ---------------------------------------------------------------------


def _smooth(have: int, extent: int, step: float, reach: float, weigh: Callable[..., Any]) -> Any:
    """Matrix whose rows weight all elements within the filter, made as wide as the steps."""
    widened = max(step, 1.0)
    centers = (np.arange(extent)[:, None] + 0.5) * step
    first = (centers - reach * widened + 0.5).astype(int).clip(0)
    last = (centers + reach * widened + 0.5).astype(int).clip(None, have)
    places = np.arange(have)
    weights = weigh((places - centers + 0.5) / widened)
    weights = np.where((places >= first) & (places < last), weights, 0.0)
    return weights / weights.sum(1, keepdims=True)


def _linear_filter(x: Any) -> Any:
    return (1 - np.abs(x)).clip(0)


def _cubic_filter(x: Any, a: float = _SMOOTH_CUBIC) -> Any:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def _lanczos_filter(x: Any) -> Any:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0.0)


_FILTERS = {
    "bilinear": (1.0, _linear_filter), "bicubic": (2.0, _cubic_filter),
    "lanczos": (3.0, _lanczos_filter),
}  # fmt: skip
"""Mode -> how far its filter reaches, and the filter."""


# ---- older names ----------------------------------------------------------------------------


def _named(mode: str, align_corners: bool | None) -> Callable[..., Tensor]:
    def upsample(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
        return interpolate(input, size, scale_factor, mode, align_corners)

    def node(images: Any, *_: Any, **__: Any) -> str:
        return f"Upsample{_NODES_BY_MODE[mode]}{images.ndim - 2}DBackward0"

    upsample.__name__ = upsample.__qualname__ = f"upsample_{mode}"
    upsample.__doc__ = f"`interpolate` in the mode ``{mode}``."
    return node_name(node)(upsample)


upsample_nearest = _named("nearest", None)
upsample_bilinear = _named("bilinear", align_corners=True)
upsample = interpolate

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]
