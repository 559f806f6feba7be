"""Sampling of images at points, and the points that affine maps give."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dtype_support import REAL, check_taken
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._ops.creation.creation import linspace, ones
from gradtool.engine._ops.elementwise.arithmetic import fmod
from gradtool.engine._ops.elementwise.elementwise import floor, round
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.shape.joining import stack
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._folding import product
from gradtool.engine.nn.functional._interpolation import CUBIC as _CUBIC

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def _sampler_node(images: Tensor, *_: Any, **__: Any) -> str:
    return f"GridSampler{images.ndim - 2}DBackward0"


class _Tap(NamedTuple):
    """One of the positions along a dimension that contribute to an element."""

    place: Tensor
    weight: Tensor | None


@node_name(saving(_sampler_node, "input", "grid"))
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
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    _check_grid(input, grid, mode)
    kernel = "grid_sampler3d_cpu" if input.ndim == 5 else "grid_sampler_2d_cpu_kernel_impl"
    check_taken(input, REAL, kernel)
    if align_corners is None:
        _warn_about_corners()
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
    for dim, extent in enumerate(input.shape[2:], 2):
        if not extent:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input "
                f"has sizes {list(input.shape)} with dimension {dim} being empty"
            )
    if mode == "bicubic" and input.ndim != 4:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


def _warn_about_corners() -> None:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
        "documentation of grid_sample for details.",
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
    flat, count = input.reshape(batch, channels, product(extents)), product(places)
    total: Tensor | None = None
    for taps in itertools.product(*along):
        index, weight = _index_and_weight(taps, extents)
        rows = index.reshape(batch, 1, count).expand(batch, channels, count)
        part = flat.gather(2, rows) * weight.reshape(batch, 1, count)
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
    if align_corners is None:
        _warn_about_corners()
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    spatial = len(size) - 2
    _check_maps(theta, size, spatial)
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    extents = tuple(size[2:])
    axes = [_axis(theta, extent, bool(align_corners)) for extent in extents]
    spread = []
    for at, axis in enumerate(axes):
        shape = [-1 if each == at else 1 for each in range(spatial)]
        spread.append(axis.reshape(shape).expand(extents))
    one = ones(extents, dtype=theta.dtype, device=theta.device)
    base = stack([*reversed(spread), one], -1).reshape(math.prod(extents), spatial + 1)
    return matmul(base, theta.transpose(1, 2)).reshape(theta.shape[0], *extents, spatial)


def _check_maps(theta: Tensor, size: Sequence[int], spatial: int) -> None:
    if spatial not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if tuple(theta.shape[1:]) != (spatial, spatial + 1):
        raise ValueError(
            f"Expected a batch of {spatial}D affine matrices of shape Nx{spatial}x{spatial + 1} "
            f"for size {size}. Got {theta.shape}."
        )


def _axis(theta: Tensor, extent: int, align_corners: bool) -> Tensor:
    if extent <= 1:
        return theta.new_zeros(extent)
    whole = linspace(-1, 1, extent, dtype=theta.dtype, device=theta.device)
    return whole if align_corners else whole * ((extent - 1) / extent)


__all__ = ["affine_grid", "grid_sample"]
