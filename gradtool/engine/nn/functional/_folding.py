"""Windows of images: extracted, summed back, and rearranged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine._ops.core.dims import Ints, as_ints
from gradtool.engine._ops.core.dtype_support import BOOL, SMOOTH, takes
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.indexing.views import sum_of_windows
from gradtool.engine._ops.indexing.views import unfold as windows_along
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._padding import pad


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


def windows(x: Tensor, size: Ints, step: Ints, dilation: Ints) -> Tensor:
    """Return windows over the last dimensions as a view: positions, then elements.

    ``(…, H, W)`` becomes ``(…, positions down, positions across, height, width)``.
    """
    first = x.ndim - len(size)
    for at, (extent, stride, apart) in enumerate(zip(size, step, dilation)):
        x = windows_along(x, first + at, apart * (extent - 1) + 1, stride)
        if apart > 1:
            x = x[..., ::apart]
    return x


def positions(extent: int, size: int, step: int, dilation: int) -> int:
    """Return the number of windows that fit into a dimension."""
    return (extent - dilation * (size - 1) - 1) // step + 1


def product(numbers: Sequence[int]) -> int:
    """Multiply the numbers."""
    result = 1
    for number in numbers:
        result *= number
    return result


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
    size, apart, ends, step = _numbers(kernel_size, dilation, padding, stride)
    batch = input.unsqueeze(0) if input.ndim == 3 else input
    padded = pad(batch, [ends[1], ends[1], ends[0], ends[0]])
    if any(have < each * (need - 1) + 1 for have, each, need in zip(padded.shape[2:], apart, size)):
        raise RuntimeError(
            f"Given input with spatial size {tuple(batch.shape[2:])}, kernel_size={size}, "
            f"dilation={apart}, padding={ends}, calculated shape of the array of sliding blocks "
            "is too small: its components must be at least one"
        )
    taken = windows(padded, size, step, apart).permute(0, 1, 4, 5, 2, 3)
    columns = taken.reshape(
        batch.shape[0], batch.shape[1] * product(size), product(taken.shape[-2:])
    )
    return columns.squeeze(0) if input.ndim == 3 else columns


@node_name("Col2ImBackward0")
@takes(BOOL | SMOOTH, "col2im_out_cpu", fused=True)
@of_own_memory
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
    size, apart, ends, step = _numbers(kernel_size, dilation, padding, stride)
    extents = for_each(output_size, 2, "output_size")
    batch = input.unsqueeze(0) if input.ndim == 2 else input
    channels, padded, counts = _folded_shape(batch, extents, size, apart, ends, step)
    patches = batch.reshape(batch.shape[0], channels, *size, *counts).permute(0, 1, 4, 5, 2, 3)
    across = _sum_windows(patches, 3, padded[1], apart[1], step[1])
    whole = _sum_windows(across, 2, padded[0], apart[0], step[0])
    image = whole.narrow(2, ends[0], extents[0]).narrow(3, ends[1], extents[1])
    return image.squeeze(0) if input.ndim == 2 else image


def _numbers(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Ints, ...]:
    return (
        for_each(kernel_size, 2, "kernel_size"),
        for_each(dilation, 2, "dilation"),
        for_each(padding, 2, "padding"),
        for_each(stride, 2, "stride"),
    )


def _folded_shape(
    batch: Tensor, extents: Ints, size: Ints, apart: Ints, ends: Ints, step: Ints
) -> tuple[int, Ints, Ints]:
    """Channels, padded extents and positions of the images that the columns come from."""
    rows, columns = batch.shape[1:]
    if rows % product(size):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={rows} and kernel_size={size}."
        )
    padded = tuple([extent + 2 * end for extent, end in zip(extents, ends)])
    counts = tuple([positions(*numbers) for numbers in zip(padded, size, step, apart)])
    if columns != product(counts):
        raise RuntimeError(
            f"Given output_size={extents}, kernel_size={size}, dilation={apart}, padding={ends}, "
            f"stride={step}, expected size of input's dimension 2 to match the calculated number "
            f"of sliding blocks {counts[0]} * {counts[1]} = {product(counts)}, but got "
            f"input.size(2)={columns}."
        )
    return rows // product(size), padded, counts


def _sum_windows(patches: Tensor, dim: int, extent: int, apart: int, step: int) -> Tensor:
    """Sum the last dimension, of windows along `dim`, back to the positions they came from."""
    if apart > 1:
        spread = pad(patches.unsqueeze(-1), [0, apart - 1]).flatten(-2)
        patches = spread.narrow(-1, 0, spread.shape[-1] - apart + 1)
    shape = [*patches.shape[:-1]]
    shape[dim] = extent
    return sum_of_windows(patches, shape=tuple(shape), dim=dim, step=step)


# ---- pixels for channels --------------------------------------------------------------------


@node_name("PixelShuffleBackward0")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Rearrange channels (…, C * r², H, W) to pixels (…, C, H * r, W * r).

    Raises:
        RuntimeError: the channels are no multiple of the factor's square.
    """
    _check_rank("pixel_shuffle", input)
    *front, channels, height, width = input.shape
    r = upscale_factor
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    if channels % r**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r**2}"
        )
    apart = input.reshape(product(front), channels // r**2, r, r, height, width)
    mixed = apart.permute(0, 1, 4, 2, 5, 3)
    return mixed.reshape(*front, channels // r**2, height * r, width * r)


@node_name("PixelUnshuffleBackward0")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`.

    Raises:
        RuntimeError: height or width is no multiple of the factor.
    """
    _check_rank("pixel_unshuffle", input)
    *front, channels, height, width = input.shape
    r = downscale_factor
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    for name, extent, at in (("height", height, -2), ("width", width, -1)):
        if extent % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({at})={extent} is not divisible by {r}"
            )
    apart = input.reshape(product(front), channels, height // r, r, width // r, r)
    mixed = apart.permute(0, 1, 3, 5, 2, 4)
    return mixed.reshape(*front, channels * r**2, height // r, width // r)


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
