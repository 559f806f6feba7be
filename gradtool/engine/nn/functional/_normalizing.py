"""Normalization: by mean and variance over some dimensions, or by a norm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dtype_support import REAL, SMOOTH, takes
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.elementwise.elementwise import rsqrt
from gradtool.engine._ops.reductions.norm import norm
from gradtool.engine._ops.reductions.statistics import var_mean
from gradtool.engine._tensor import Tensor


def _standardize(input: Tensor, dims: Sequence[int], eps: float) -> Tensor:
    variance, mean = var_mean(input, tuple(dims), correction=0, keepdim=True)
    return (input - mean) * rsqrt(variance + eps)


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    if weight is not None:
        x = x * weight
    return x if bias is None else x + bias


def _align_channels(parameter: Tensor | None, input: Tensor) -> Tensor | None:
    """Align a vector over the channels with dimension 1 of the input."""
    return None if parameter is None else parameter.reshape(1, -1, *[1] * (input.ndim - 2))


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """Divide by the p-norm along a dimension, or by `eps` where that is larger."""
    scaled = input / norm(input, p, dim, keepdim=True).clamp_min(eps)
    return scaled if out is None else out.copy_(scaled)


@node_name("NativeLayerNormBackward0")
@takes(REAL, "LayerNormKernelImpl")
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Standardize over the last dimensions, then apply an elementwise affine map.

    Raises:
        RuntimeError: the input's last dimensions are not `normalized_shape`.
    """
    return _affine(_standardize(input, _last(input, normalized_shape), eps), weight, bias)


@takes(SMOOTH, "rms_norm")
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide by the root mean square over the last dimensions.

    Raises:
        RuntimeError: the input's last dimensions are not `normalized_shape`.
    """
    slack = float(np.finfo(input._array.dtype).eps) if eps is None else eps
    square = (input * input).mean(_last(input, normalized_shape), keepdim=True)
    return _affine(input * rsqrt(square + slack), weight, None)


def _last(input: Tensor, normalized_shape: Sequence[int]) -> tuple[int, ...]:
    shape = list(normalized_shape)
    if not shape or list(input.shape[-len(shape) :]) != shape:
        wanted = ", ".join(map(str, ["*", *shape]))
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape [{wanted}], but got input "
            f"of size{list(input.shape)}"
        )
    return tuple(range(input.ndim - len(shape), input.ndim))


@node_name("NativeBatchNormBackward0")
@takes(REAL, "batch_norm")
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Standardize each channel over the batch, then apply an affine map to each channel.

    In training the running statistics move towards the batch's; otherwise they are used instead.

    Raises:
        ValueError: training with a single value per channel.
        RuntimeError: there are no running statistics outside training.
    """
    _check_dtypes(input, running_mean, running_var, weight, bias)
    dims = [0, *range(2, input.ndim)]
    weight, bias = _align_channels(weight, input), _align_channels(bias, input)
    if training:
        _check_values_per_channel(input)
        _track(input, running_mean, running_var, dims, momentum)
        return _affine(_standardize(input, dims, eps), weight, bias)
    if running_mean is None or running_var is None:
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when training=False"
        )
    behind = [1] * (input.ndim - 2)
    mean, variance = (each.reshape(1, -1, *behind) for each in (running_mean, running_var))
    return _affine((input - mean) * rsqrt(variance + eps), weight, bias)


def _check_dtypes(input: Tensor, *parameters: Tensor | None) -> None:
    """Refuse statistics and parameters of another dtype; float16 inputs allow float32."""
    allowed = {input.dtype, _dtypes.float32} if input.dtype is _dtypes.float16 else {input.dtype}
    if any(each is not None and each.dtype not in allowed for each in parameters):
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def _check_values_per_channel(input: Tensor) -> None:
    if input.numel() == input.shape[1]:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}"
        )


def _track(
    input: Tensor, mean: Tensor | None, var: Tensor | None, dims: list[int], momentum: float
) -> None:
    """Move the running statistics towards those over `dims`, outside the graph.

    If these leave the batch dimension, towards the mean over the batch.
    """
    recording, modes.grad = modes.grad, False
    try:
        found_var, found_mean = var_mean(input.detach(), tuple(dims))
        for running, found in ((mean, found_mean), (var, found_var)):
            if running is not None:
                found = found.mean(0) if found.ndim > 1 else found
                running.mul_(1 - momentum).add_(found * momentum)
    finally:
        modes.grad = recording


@node_name("ViewBackward0")
@takes(REAL, "batch_norm")
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Standardize each channel of each example, then apply an affine map to each channel.

    Raises:
        ValueError: each channel of an example has a single value.
    """
    weight, bias = _align_channels(weight, input), _align_channels(bias, input)
    dims = list(range(2, input.ndim))
    if not use_input_stats:
        found = batch_norm(input, running_mean, running_var, eps=eps)
        return _affine(found, weight, bias)
    if input[0, 0].numel() == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {input.shape}"
        )
    _track(input, running_mean, running_var, dims, momentum)
    return _affine(_standardize(input, dims, eps), weight, bias)


@node_name("NativeGroupNormBackward0")
@takes(REAL, "GroupNormKernelImpl")
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Standardize groups of channels of each example, then apply an affine map.

    Raises:
        RuntimeError: the channels cannot be split into that many equal groups.
    """
    count, channels = input.shape[0], input.shape[1]
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(input.shape)} and num_groups={num_groups}"
        )
    grouped = input.reshape(count, num_groups, -1)
    standard = _standardize(grouped, [2], eps).reshape(input.shape)
    return _affine(standard, _align_channels(weight, input), _align_channels(bias, input))


__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm"]
