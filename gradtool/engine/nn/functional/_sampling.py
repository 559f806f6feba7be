"""Resampling of images: interpolation, affine grids and grid sampling."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import REAL, check_taken
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.creation.creation import linspace, ones
from gradtool.engine._ops.elementwise.arithmetic import fmod
from gradtool.engine._ops.elementwise.elementwise import floor, round
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.shape.joining import stack
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._pooling import along, averaged_to

_CUBIC = -0.75
"""Free parameter of cubic convolution; PyTorch uses this value."""

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
"""Mode -> the dtypes that torch supports, and the name of its kernel."""

_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}


_NODES_BY_MODE = {
    "nearest": "Nearest", "nearest-exact": "NearestExact", "linear": "Linear",
    "bilinear": "Bilinear", "bicubic": "Bicubic", "trilinear": "Trilinear",
}  # fmt: skip


def _interpolation_node(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    *_: Any,
    **__: Any,
) -> str | None:
    kind = _NODES_BY_MODE.get(mode)
    return None if kind is None else f"Upsample{kind}{input.ndim - 2}DBackward0"


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
            ``trilinear`` or ``area``.
        align_corners: Keep the corners' centres in place, not their edges.
        recompute_scale_factor: Compute the factor from the rounded extents.
        antialias: Not supported.

    Raises:
        ValueError: both or none of `size` and `scale_factor` are given, or they do not fit.
        NotImplementedError: the mode does not take that many dimensions, or `antialias` is set.
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
        input = _resample(input, dim, extent, factor, mode, bool(align_corners))
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
    """Return extents and factors; a factor is None where the extent determines it."""
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


def _resample(
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
    """Position in the input of each element of the output."""
    places = np.arange(extent)
    if align_corners:
        return places * ((have - 1) / (extent - 1) if extent > 1 else 0.0)
    return (places + 0.5) * (have / extent if factor is None else 1 / factor) - 0.5


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
    return _matrix(have, [(first + shift, _kernel(abs(part - shift))) for shift in range(-1, 3)])


def _kernel(distance: Any) -> Any:
    a, x = _CUBIC, distance
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    return np.where(x <= 1, near, ((x - 5) * x + 8) * x * a - 4 * a)


def _matrix(have: int, taps: list[tuple[Any, Any]]) -> Any:
    """Matrix with weights at their positions; positions beyond the ends move to the end."""
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


MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


class _Tap(NamedTuple):
    """One of the positions along a dimension that contribute to an element."""

    place: Tensor
    weight: Tensor | None


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample images (N, C, H, W) or (N, C, D, H, W) at points (N, …, 2 or 3) in [-1, 1].

    Args:
        input: The images.
        grid: The points, x first.
        mode: ``bilinear`` (of volumes, trilinear), ``nearest``, or ``bicubic`` (of images).
        padding_mode: Values outside: ``zeros``, the ``border`` or the ``reflection``.
        align_corners: Let -1 and 1 be the centres, not the edges, of the outer pixels.

    Raises:
        ValueError: the mode is unknown.
        RuntimeError: the shapes or dtypes do not fit.
    """
    if mode not in MODES:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be one of {MODES}, "
                         f"but got: '{mode}'")  # fmt: skip
    if padding_mode not in PADDINGS:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be one of "
                         f"{PADDINGS}, but got: '{padding_mode}'")  # fmt: skip
    _check_grid(input, grid, mode)
    kernel = "grid_sampler3d_cpu" if input.ndim == 5 else "grid_sampler_2d_cpu_kernel_impl"
    check_taken(input, REAL, kernel)
    if align_corners is None:
        _warn_about_corners("grid_sample")
    extents = tuple(input.shape[2:])
    along = []
    for at, extent in enumerate(extents):
        place = _to_pixels(grid[..., len(extents) - 1 - at], extent, bool(align_corners))
        padded = _padding(padding_mode, extent, bool(align_corners))
        if mode == "bicubic":
            along.append([tap._replace(place=padded(tap.place)) for tap in _taps(place, mode)])
        else:
            along.append(_taps(padded(place), mode))
    return _combine(input, along, tuple(grid.shape[1:-1]))


def _check_grid(input: Tensor, grid: Tensor, mode: str) -> None:
    if input.dtype is not grid.dtype:
        raise RuntimeError(
            "grid_sampler(): expected input and grid to have same dtype, but input has "
            f"{input.dtype} and grid has {grid.dtype}"
        )
    if input.ndim not in (4, 5) or grid.ndim != input.ndim or input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions and "
            f"batch size, but got input with sizes {list(input.shape)} and grid with sizes "
            f"{list(grid.shape)}"
        )
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but "
            f"got grid with sizes {list(grid.shape)}"
        )
    if mode == "bicubic" and input.ndim != 4:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


def _warn_about_corners(name: str) -> None:
    warnings.warn(
        f"Default {name} behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired.",
        stacklevel=3,
    )


def _to_pixels(place: Tensor, extent: int, align_corners: bool) -> Tensor:
    if align_corners:
        return (place + 1) * ((extent - 1) / 2)
    return ((place + 1) * extent - 1) / 2


# ---- outside --------------------------------------------------------------------------------


def _padding(mode: str, extent: int, align_corners: bool) -> Callable[[Tensor], Tensor]:
    """Move a position outside the image to its inside."""
    if mode == "zeros":
        return lambda place: place
    if mode == "border":
        return lambda place: place.clamp(0, extent - 1)
    low, span = (0.0, extent - 1.0) if align_corners else (-0.5, float(extent))
    return lambda place: _reflect(place, low, span).clamp(0, extent - 1)


def _reflect(place: Tensor, low: float, span: float) -> Tensor:
    """Reflect at both ends of [low, low + span] until inside."""
    if span == 0:
        return place * 0
    away = (place - low).abs()
    rest = fmod(away, span)
    turned = fmod(floor(away.detach() / span), 2) == 1
    return where(turned, span - rest, rest) + low


# ---- taps -----------------------------------------------------------------------------------


def _taps(place: Tensor, mode: str) -> list[_Tap]:
    if mode == "nearest":
        return [_Tap(round(place.detach()), None)]
    first = floor(place.detach())
    part = place - first
    if mode == "bilinear":
        return [_Tap(first, 1 - part), _Tap(first + 1, part)]
    near, far = _near, _far
    return [
        _Tap(first - 1, far(part + 1)), _Tap(first, near(part)),
        _Tap(first + 1, near(1 - part)), _Tap(first + 2, far(2 - part)),
    ]  # fmt: skip


def _near(x: Tensor) -> Tensor:
    return ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1


def _far(x: Tensor) -> Tensor:
    return ((x - 5) * x + 8) * x * _CUBIC - 4 * _CUBIC


def _combine(input: Tensor, along: list[list[_Tap]], places: tuple[int, ...]) -> Tensor:
    """Sum over all combinations of taps, one for each dimension."""
    batch, channels, *extents = input.shape
    flat = input.reshape(batch, channels, -1)
    total: Tensor | None = None
    for taps in itertools.product(*along):
        index, weight = _index_and_weight(taps, extents)
        rows = index.reshape(batch, 1, -1).expand(batch, channels, -1)
        part = flat.gather(2, rows) * weight.reshape(batch, 1, -1)
        total = part if total is None else total + part
    assert total is not None
    return total.reshape(batch, channels, *places)


def _index_and_weight(taps: Sequence[_Tap], extents: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Index in the flattened image, and its weight: zero outside."""
    index, weight = None, None
    for tap, extent in zip(taps, extents, strict=True):
        inside = ((tap.place >= 0) & (tap.place <= extent - 1)).to(tap.place.dtype)
        own = inside if tap.weight is None else tap.weight * inside
        place = tap.place.detach().clamp(0, extent - 1).to(_dtypes.int64)
        index = place if index is None else index * extent + place
        weight = own if weight is None else weight * own
    assert index is not None
    assert weight is not None
    return index, weight


# ---- affine maps ----------------------------------------------------------------------------


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Points that affine maps (N, 2, 3) or (N, 3, 4) map the pixels of images to.

    Args:
        theta: The maps.
        size: Of the images: (N, C, H, W) or (N, C, D, H, W).
        align_corners: As in `grid_sample`.

    Raises:
        ValueError: the maps are not floating, or do not fit the size.
    """
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    spatial = len(size) - 2
    if spatial not in (2, 3) or tuple(theta.shape[1:]) != (spatial, spatial + 1):
        raise ValueError(
            f"Expected a batch of {spatial}D affine matrices of shape Nx{spatial}x{spatial + 1} "
            f"for size {tuple(size)}. Got {tuple(theta.shape)}."
        )
    if align_corners is None:
        _warn_about_corners("affine_grid")
    extents = tuple(size[2:])
    axes = [_axis(theta, extent, bool(align_corners)) for extent in extents]
    spread = []
    for at, axis in enumerate(axes):
        shape = [-1 if each == at else 1 for each in range(spatial)]
        spread.append(axis.reshape(shape).expand(extents))
    one = ones(extents, dtype=theta.dtype, device=theta.device)
    base = stack([*reversed(spread), one], -1).reshape(math.prod(extents), spatial + 1)
    return matmul(base, theta.transpose(1, 2)).reshape(theta.shape[0], *extents, spatial)


def _axis(theta: Tensor, extent: int, align_corners: bool) -> Tensor:
    if extent <= 1:
        return theta.new_zeros(extent)
    whole = linspace(-1, 1, extent, dtype=theta.dtype, device=theta.device)
    return whole if align_corners else whole * ((extent - 1) / extent)


__all__ = [
    "affine_grid", "grid_sample", "interpolate", "upsample", "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip
