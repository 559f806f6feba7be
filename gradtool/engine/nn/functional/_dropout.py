"""Dropout: random entries, or whole channels, set to zero in training."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._ops.creation.random import bernoulli, in_memory_order
from gradtool.engine._tensor import Size, Tensor

_SATURATION = -1.7580993408473766
"""The limit of `selu` at minus infinity."""


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set entries to zero with probability `p`, and divide the others by ``1 - p``."""
    return _drop(input, p, training, inplace, input.shape)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Drop whole channels of an input of shape (N, C, L) or (C, L)."""
    return _drop(input, p, training, inplace, _channels(input, 1))


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Drop whole channels of an input of shape (N, C, H, W) or (C, H, W)."""
    return _drop(input, p, training, inplace, _channels(input, 2))


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Drop whole channels of an input of shape (N, C, D, H, W) or (C, D, H, W)."""
    return _drop(input, p, training, inplace, _channels(input, 3))


def _channels(input: Tensor, spatial: int) -> Size:
    return Size([*input.shape[:-spatial], *[1] * spatial])


def _drop(input: Tensor, p: float, training: bool, inplace: bool, shape: Size) -> Tensor:
    _check_probability(p)
    if not training or p == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    factor = _keep_mask(input, p, shape) / (1 - p)
    return input.mul_(factor) if inplace else input * factor


def _keep_mask(input: Tensor, p: float, shape: Size) -> Tensor:
    """Return 0 for dropped entries, of probability `p`, and 1 for others.

    They are drawn in the order of `input` in memory, as PyTorch draws them.
    """

    def draw(size: Any) -> Tensor:
        return bernoulli(empty(size, dtype=input.dtype, device=input.device), 1 - p)

    if shape == input.shape and not input.is_contiguous():
        return in_memory_order(input, draw)
    return draw(shape)


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Set entries to the limit of `selu`, then scale back to mean 0 and variance 1."""
    return _alpha_drop(input, p, training, inplace, input.shape)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels, of an input of shape (N, C, …)."""
    return _alpha_drop(input, p, training, inplace, _channels(input, input.ndim - 2))


def _alpha_drop(input: Tensor, p: float, training: bool, inplace: bool, shape: Size) -> Tensor:
    _check_probability(p)
    if not training or p == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    scale = 1 / math.sqrt((_SATURATION**2 * p + 1) * (1 - p))
    kept = _keep_mask(input, p, shape)
    shift = ((1 - kept) * _SATURATION - _SATURATION * p) * scale
    out = input * (kept * scale) + shift
    return input.copy_(out) if inplace else out


__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
]  # fmt: skip
