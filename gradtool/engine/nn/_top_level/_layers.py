"""Convolutions of either kind, sampling by numbered modes, padding and look-ups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional
from gradtool.engine.nn.functional._padding import padded_with
from gradtool.engine.nn.functional._sampling import MODES, PADDINGS

_CONVOLUTIONS = (functional.conv1d, functional.conv2d, functional.conv3d)
_TRANSPOSED = (
    functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d,
)  # fmt: skip


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """A convolution or a transposed one, over the dimensions that the weight has.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    spatial = weight.ndim - 2
    if not transposed:
        plain = _CONVOLUTIONS[spatial - 1]
        return plain(input, weight, bias, stride, padding, dilation, groups)
    return _TRANSPOSED[spatial - 1](
        input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor:
    """`nn.functional.pad` with a constant.

    Raises:
        RuntimeError: the numbers are not in pairs, or more than there are dimensions.
    """
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    return padded_with(input, pad, value)


def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """`nn.functional.embedding` with the table first; a negative `padding_idx` stands for none."""
    padding = None if padding_idx < 0 else padding_idx
    return functional.embedding(
        indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse
    )


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`nn.functional.grid_sample` with numbers for its modes."""
    return functional.grid_sample(
        input, grid, MODES[interpolation_mode], PADDINGS[padding_mode], align_corners
    )


grid_sampler_2d = grid_sampler_3d = grid_sampler


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """`nn.functional.affine_grid`."""
    return functional.affine_grid(theta, size, align_corners)
