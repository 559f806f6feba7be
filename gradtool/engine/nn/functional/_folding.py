"""Windows of images: extracted, summed back, and rearranged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine._ops.core.batching import unchanged
from gradtool.engine._ops.core.dims import Ints, as_ints
from gradtool.engine._ops.core.dtype_support import BOOL, FACTORED, SMOOTH, takes
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._tensor import Tensor


def for_each(value: Any, count: int, name: str) -> Ints:
    """Expand one number to all dimensions, or check that there is one for each.

    Raises:
        RuntimeError: the count does not match.
    """
    numbers = as_ints(tuple(value) if isinstance(value, tuple | list) else value)
    if len(numbers) == 1:
        return numbers * count
    if len(numbers) != count:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {count} values to match "
            f"the dimensions, but got {name}={list(numbers)}"
        )
    return numbers


def positions(extent: int, size: int, step: int, dilation: int) -> int:
    """Return the number of windows that fit into a dimension."""
    return (extent - dilation * (size - 1) - 1) // step + 1


def product(numbers: Sequence[int]) -> int:
    """Multiply the numbers."""
    result = 1
    for number in numbers:
        result *= number
    return result


class Grid(NamedTuple):
    """The places of the windows of an image: two numbers each, down and across."""

    size: Ints
    apart: Ints
    """The dilation."""
    ends: Ints
    """The padding."""
    step: Ints

    def padded(self, extents: Ints) -> Ints:
        """Return the extents of an image with its padding."""
        return tuple([extent + 2 * end for extent, end in zip(extents, self.ends)])

    def counts(self, extents: Ints) -> Ints:
        """Return the number of windows in an image, down and across."""
        numbers = zip(self.padded(extents), self.size, self.step, self.apart)
        return tuple([positions(*each) for each in numbers])

    def elements(self, counts: Ints) -> Iterator[tuple[int, int, slice, slice]]:
        """Yield each element of a window, and where it lies in the padded image in all of them."""
        down, across = (
            [
                (each, slice(each * apart, each * apart + step * (count - 1) + 1, step))
                for each in range(size)
            ]
            for size, apart, step, count in zip(self.size, self.apart, self.step, counts)
        )
        for row, rows in down:
            for column, columns in across:
                yield row, column, rows, columns

    def inside(self, extents: Ints) -> tuple[Any, ...]:
        """Return where the image lies within the padded one."""
        spans = [slice(end, end + extent) for end, extent in zip(self.ends, extents)]
        return (..., *spans)


@node_name("Im2ColBackward0")
@takes(BOOL | SMOOTH, "im2col_out_cpu", fused=True)
def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Extract the patches of images (N, C, H, W) as columns (N, C * elements, positions).

    Raises:
        RuntimeError: the shapes do not fit.
    """
    if input.ndim not in (3, 4):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    grid = _grid(kernel_size, dilation, padding, stride)
    if min(grid.counts(input.shape[-2:])) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(input.shape[-2:])}, "
            f"kernel_size={grid.size}, dilation={grid.apart}, padding={grid.ends}, calculated "
            "shape of the array of sliding blocks is too small: its components must be at least one"
        )
    return _columns(input, grid=grid)


@node_name("Col2ImBackward0")
@takes(BOOL | SMOOTH, "col2im_out_cpu", fused=True)
def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Sum patches back into images: each element is the sum of all patches that cover it.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    grid = _grid(kernel_size, dilation, padding, stride)
    extents = for_each(output_size, 2, "output_size")
    _check_columns(input, extents, grid)
    return _image(input, extents=extents, grid=grid)


def _extracted(x: Any, *, grid: Grid) -> Any:
    """Columns (…, C * elements, positions) of images (…, C, H, W)."""
    *front, channels = x.shape[:-2]
    extents = x.shape[-2:]
    if any(grid.ends):
        padded = np.zeros_like(x, shape=(*front, channels, *grid.padded(extents)))
        padded[grid.inside(extents)] = x
        x = padded
    counts = grid.counts(extents)
    out = np.empty_like(x, shape=(*front, channels, *grid.size, *counts), order="C")
    for row, column, rows, columns in grid.elements(counts):
        out[..., row, column, :, :] = x[..., rows, columns]
    return out.reshape(*front, channels * product(grid.size), product(counts))


def _summed(x: Any, *, extents: Ints, grid: Grid) -> Any:
    """Images (…, C, H, W) of columns: each element the sum of the windows that cover it."""
    *front, rows_of_columns = x.shape[:-1]
    counts, channels = grid.counts(extents), rows_of_columns // product(grid.size)
    patches = x.reshape(*front, channels, *grid.size, *counts)
    out = np.zeros_like(x, shape=(*front, channels, *grid.padded(extents)), order="C")
    for row, column, rows, columns in grid.elements(counts):
        out[..., rows, columns] += patches[..., row, column, :, :]
    return out[grid.inside(extents)].copy() if any(grid.ends) else out


_columns: Primitive = linear(
    "im2col",
    _extracted,
    lambda g, x_shape, grid: _image(g, extents=tuple(x_shape[-2:]), grid=grid),
    dtypes=BOOL | FACTORED,
    batch=unchanged,
)
_image: Primitive = linear(
    "col2im",
    _summed,
    lambda g, grid: _columns(g, grid=grid),
    dtypes=BOOL | FACTORED,
    batch=unchanged,
)


def _grid(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Grid:
    """Read the numbers of a grid.

    Raises:
        RuntimeError: One of them is not positive, or the padding is negative.
    """
    grid = Grid(
        for_each(kernel_size, 2, "kernel_size"),
        for_each(dilation, 2, "dilation"),
        for_each(padding, 2, "padding"),
        for_each(stride, 2, "stride"),
    )
    _require("kernel size", "kernel", grid.size)
    _require("dilation", "dilation", grid.apart)
    _require("padding", "pad", grid.ends, least=0)
    _require("stride", "stride", grid.step)
    return grid


def _require(what: str, name: str, pair: Ints, least: int = 1) -> None:
    if min(pair) < least:
        bound = "greater than zero" if least else "non-negative"
        raise RuntimeError(
            f"{what} should be {bound}, but got {name}_height: {pair[0]} {name}_width: {pair[1]}"
        )


def _check_columns(input: Tensor, extents: Ints, grid: Grid) -> None:
    """Refuse columns that no image of these extents gives."""
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    rows, columns = input.shape[-2:]
    if rows % product(grid.size):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={rows} and kernel_size={grid.size}."
        )
    counts = grid.counts(extents)
    if columns != product(counts):
        raise RuntimeError(
            f"Given output_size={extents}, kernel_size={grid.size}, dilation={grid.apart}, "
            f"padding={grid.ends}, stride={grid.step}, expected size of input's dimension 2 to "
            f"match the calculated number of sliding blocks {counts[0]} * {counts[1]} = "
            f"{product(counts)}, but got input.size(2)={columns}."
        )


# ---- pixels for channels --------------------------------------------------------------------


@node_name("PixelShuffleBackward0")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Rearrange channels (…, C * r², H, W) to pixels (…, C, H * r, W * r).

    Raises:
        RuntimeError: the channels are no multiple of the factor's square.
    """
    _check_rank("pixel_shuffle", input)
    channels, r = input.shape[-3], upscale_factor
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    if channels % r**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r**2}"
        )
    return _shuffled(input, factor=r)


@node_name("PixelUnshuffleBackward0")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`.

    Raises:
        RuntimeError: height or width is no multiple of the factor.
    """
    _check_rank("pixel_unshuffle", input)
    (height, width), r = input.shape[-2:], downscale_factor
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    for name, extent, at in (("height", height, -2), ("width", width, -1)):
        if extent % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({at})={extent} is not divisible by {r}"
            )
    return _unshuffled(input, factor=r)


def _to_pixels(x: Any, *, factor: int) -> Any:
    *front, channels, height, width = x.shape
    apart = x.reshape(*front, channels // factor**2, factor, factor, height, width)
    at = len(front)
    mixed = apart.transpose(*range(at + 1), at + 3, at + 1, at + 4, at + 2)
    return mixed.copy().reshape(*front, channels // factor**2, height * factor, width * factor)


def _to_channels(x: Any, *, factor: int) -> Any:
    *front, channels, height, width = x.shape
    apart = x.reshape(*front, channels, height // factor, factor, width // factor, factor)
    at = len(front)
    mixed = apart.transpose(*range(at + 1), at + 2, at + 4, at + 1, at + 3)
    return mixed.copy().reshape(*front, channels * factor**2, height // factor, width // factor)


_shuffled: Primitive = linear(
    "pixel_shuffle", _to_pixels, lambda g, factor: _unshuffled(g, factor=factor), batch=unchanged
)
_unshuffled: Primitive = linear(
    "pixel_unshuffle", _to_channels, lambda g, factor: _shuffled(g, factor=factor), batch=unchanged
)


def _check_rank(name: str, input: Tensor) -> None:
    if input.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} "
            "dimension(s)"
        )


@node_name("ChannelShuffleBackward0")
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Interleave equal groups of the channels of (N, C, …).

    Raises:
        RuntimeError: the channels cannot be split into that many equal groups.
    """
    if input.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(input.shape)}"
        )
    count, channels, *extents = input.shape
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if channels % groups:
        raise RuntimeError(
            "Number of channels must be divisible by groups. Got "
            f"{channels} channels and {groups} groups."
        )
    apart = input.reshape(count, groups, channels // groups, *extents)
    return apart.transpose(1, 2).reshape(input.shape)


native_channel_shuffle = channel_shuffle

__all__ = [
    "channel_shuffle", "fold", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle",
    "unfold",
]  # fmt: skip
