"""Dropout: random entries, or whole channels, set to zero in training."""

from __future__ import annotations

import math
import warnings
from typing import Any

from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._ops.creation.random import bernoulli, in_memory_order
from gradtool.engine._tensor import Tensor

_SATURATION = -1.7580993408473766
"""The limit of `selu` at minus infinity."""


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set entries to zero with probability `p`, and divide the others by ``1 - p``."""
    return _drop(input, p, training, inplace)


def _usual(spatial: int) -> str:
    return (
        f"Note that dropout{spatial}d exists to provide channel-wise dropout on inputs with "
        f"{spatial} spatial dimension{'s' * (spatial > 1)}, a channel dimension, and an optional "
        f"batch dimension (i.e. {spatial + 1}D or {spatial + 2}D inputs)."
    )


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Drop whole channels of an input of shape (N, C, L) or (C, L).

    Raises:
        RuntimeError: the input has another number of dimensions.
    """
    _check_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. {_usual(1)}"
        )
    return _drop_features(input, p, training, inplace, input.ndim == 3)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Drop whole channels of an input of shape (N, C, H, W), or as PyTorch does, (N, C, L)."""
    _check_probability(p)
    _warn_of_rank(input, 2)
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _drop_features(input, p, training, inplace, batched=True)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Drop whole channels of an input of shape (N, C, D, H, W) or (C, D, H, W)."""
    _check_probability(p)
    _warn_of_rank(input, 3)
    return _drop_features(input, p, training, inplace, input.ndim == 5)


def _warn_of_rank(input: Tensor, spatial: int) -> None:
    if input.ndim not in (spatial + 1, spatial + 2):
        name = f"dropout{spatial}d"
        warnings.warn(
            f"{name}: Received a {input.ndim}-D input to {name}, which is deprecated and will "
            "result in an error in a future release. To retain the behavior and silence this "
            f"warning, please use dropout instead. {_usual(spatial)}",
            stacklevel=3,
        )


def drop_features(input: Tensor, p: float, training: bool, inplace: bool = False) -> Tensor:
    """Drop whole channels of (N, C, …)."""
    return _drop(input, p, training, inplace, features=True)


def _drop_features(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    if batched:
        return drop_features(input, p, training, inplace)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    out = drop_features(batch, p, training, inplace)
    return out.squeeze_(0) if inplace else out.squeeze(0)


def _drop(input: Tensor, p: float, training: bool, inplace: bool, features: bool = False) -> Tensor:
    _check_probability(p)
    if not training or p == 0 or not input.numel():
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    factor = _keep_mask(input, p, features) / (1 - p)
    return input.mul_(factor) if inplace else input * factor


def _keep_mask(input: Tensor, p: float, features: bool) -> Tensor:
    """Return 0 for dropped entries, of probability `p`, and 1 for others.

    They are drawn in the order of `input` in memory, as PyTorch draws them; with `features` one
    for each channel.
    """
    if features and input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")

    def draw(size: Any) -> Tensor:
        return bernoulli(empty(size, dtype=input.dtype, device=input.device), 1 - p)

    if features:
        return draw([*input.shape[:2], *[1] * (input.ndim - 2)])
    return draw(input.shape) if input.is_contiguous() else in_memory_order(input, draw)


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Set entries to the limit of `selu`, then scale back to mean 0 and variance 1."""
    return _alpha_drop(input, p, training, inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels, of an input of shape (N, C, …)."""
    return _alpha_drop(input, p, training, inplace, features=True)


def _alpha_drop(
    input: Tensor, p: float, training: bool, inplace: bool, features: bool = False
) -> Tensor:
    _check_probability(p)
    if not training or p == 0 or not input.numel():
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    scale = 1 / math.sqrt((_SATURATION**2 * p + 1) * (1 - p))
    kept = _keep_mask(input, p, features)
    limit = -_SATURATION * scale
    shift = (kept - 1) * limit + limit * p
    out = input * (kept * scale) + shift
    return input.copy_(out) if inplace else out


__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
]  # fmt: skip
