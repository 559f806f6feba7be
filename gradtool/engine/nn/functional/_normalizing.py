"""Normalization: by mean and variance over some dimensions, or by a norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._levels import BatchLevel, Wrapped
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.batching import all_later, changing, of_examples
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import REAL, SMOOTH, takes
from gradtool.engine._ops.core.final import is_final
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.inplace import replace
from gradtool.engine._ops.core.kinds import general
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._ops.elementwise.elementwise import rsqrt
from gradtool.engine._ops.reductions.norm import norm
from gradtool.engine._ops.reductions.reduction import accumulating, added_up, count_over
from gradtool.engine._ops.reductions.statistics import var_mean
from gradtool.engine._tensor import Tensor, wrap


def _centred(x: Any, dims: Ints, eps: float) -> tuple[Any, Any]:
    """The deviation from the mean over some dimensions, and what it is to be multiplied by."""
    count = count_over(x.shape, dims)
    out = x - added_up(x, dims, keepdim=True) / count
    rate = added_up(out * out, dims, keepdim=True)
    rate /= count
    rate += eps
    np.sqrt(rate, out=rate)
    return out, np.reciprocal(rate, out=rate)


@accumulating
def _standardized(x: Any, *, split: Ints, dims: Ints, eps: float) -> Any:
    out, rate = _centred(x.reshape(split), dims, eps)
    out *= rate
    return out.reshape(x.shape)


@ignore_fp_warnings
def _standardized_back(g: Any, x: Any, split: Ints, dims: Ints, eps: float) -> Any:
    shape, g, x = x.shape, g.reshape(split), x.reshape(split)
    count = count_over(split, dims)
    standard, rate = _centred(x, dims, eps)
    standard *= rate
    out = standard * g
    along = added_up(out, dims, keepdim=True) / count
    np.multiply(standard, along, out=standard)
    standard += added_up(g, dims, keepdim=True) / count
    np.subtract(g, standard, out=out)
    out *= rate
    return out.reshape(shape)


def _standardized_vjp(g: Tensor, x: Tensor, split: Ints, dims: Ints, eps: float) -> Tensor:
    """The part of `g` that changes neither mean nor variance, scaled as the deviations are."""
    if is_final(g, x):
        return wrap(_standardized_back(g._array, x._array, split, dims, eps))
    shape, g, x = x.shape, g.reshape(split), x.reshape(split)
    variance, mean = var_mean(x, dims, correction=0, keepdim=True)
    rate = rsqrt(variance + eps)
    standard = (x - mean) * rate
    along = (g * standard).mean(dims, keepdim=True)
    return ((g - g.mean(dims, keepdim=True) - standard * along) * rate).reshape(shape)


_standard = general(
    "standardize",
    _standardized,
    _standardized_vjp,
    dtypes=REAL,
    batch=changing(split=of_examples, dims=all_later),
)


def _standardize(
    input: Tensor, dims: Sequence[int], eps: float, split: Ints | None = None
) -> Tensor:
    """Standardize over some dimensions of the input, or of its elements in the shape `split`."""
    array = input._array
    if not array.size:
        return input.clone()
    return _standard(input, split=split or array.shape, dims=tuple(dims), eps=eps)


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


@node_name(saving("NativeLayerNormBackward0", "input", "weight", "bias"))
@takes(REAL, "LayerNormKernelImpl", fused=True)
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
    dims = _last(input, normalized_shape)
    if weight is not None or bias is not None:
        _check_elementwise(normalized_shape, weight=weight, bias=bias)
    return _affine(_standardize(input, dims, eps), weight, bias)


_SHORT = (_dtypes.float16, _dtypes.bfloat16)


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
    dims = _last(input, normalized_shape, "*")
    _check_elementwise(normalized_shape, weight=weight)
    wide = input.to(_dtypes.float32) if input.dtype in _SHORT else input
    slack = _dtypes.finfo(wide.dtype).eps if eps is None else eps
    square = (wide * wide).mean(dims, keepdim=True)
    return _affine(wide * rsqrt(square + slack), weight, None).to(input.dtype)


def _last(input: Tensor, normalized_shape: Sequence[int], any: str = "*, ") -> tuple[int, ...]:
    """Return the dimensions of `normalized_shape`, which must be the last ones of the input."""
    shape = list(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    if list(input._array.shape[-len(shape) :]) != shape:
        wanted = ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape [{any}{wanted}], but got "
            f"input of size{list(input.shape)}"
        )
    ndim = input._array.ndim
    return tuple(range(ndim - len(shape), ndim))


def _check_elementwise(normalized_shape: Sequence[int], **parameters: Tensor | None) -> None:
    shape = list(normalized_shape)
    for name, each in parameters.items():
        if each is not None and list(each.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(each.shape)} and normalized_shape = {shape}"
            )


@node_name("NativeBatchNormBackward0")
@takes(REAL, "batch_norm", fused=True)
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
    if training:
        _check_values_per_channel(input.shape)
    return normalized_by_batch(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )


def normalized_by_batch(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """`batch_norm` of any number of values for each channel."""
    _check_dtypes(input, running_mean, running_var, weight, bias)
    if not input.numel():
        return _affine(input.clone(), _first(weight), _first(bias))
    for name, each in (("running_mean", running_mean), ("running_var", running_var)):
        if each is None and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    _check_lengths(
        input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias
    )
    weight, bias = _align_channels(weight, input), _align_channels(bias, input)
    if training:
        dims = [0, *range(2, input.ndim)]
        _track(input, running_mean, running_var, dims, momentum)
        return _affine(_standardize(input, dims, eps), weight, bias)
    mean, variance = _align_channels(running_mean, input), _align_channels(running_var, input)
    assert mean is not None
    assert variance is not None
    return _affine((input - mean) * rsqrt(variance + eps), weight, bias)


def _first(parameter: Tensor | None) -> Tensor | None:
    """The element that PyTorch applies to no values, which then get a zero gradient."""
    return None if parameter is None else parameter[0]


def _check_lengths(input: Tensor, **parameters: Tensor | None) -> None:
    channels = input.shape[1] if input.ndim > 1 else 0
    for name, each in parameters.items():
        if each is not None and each.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {each.numel()}")


def _check_dtypes(input: Tensor, *parameters: Tensor | None) -> None:
    """Refuse statistics and parameters of another dtype; those of two bytes allow float32."""
    allowed = {input.dtype, _dtypes.float32} if input.dtype.itemsize == 2 else {input.dtype}
    if any(each is not None and each.dtype not in allowed for each in parameters):
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def _check_values_per_channel(shape: Sequence[int]) -> None:
    if math.prod([shape[0], *shape[2:]]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {shape}"
        )


def _track(
    input: Tensor, mean: Tensor | None, var: Tensor | None, dims: list[int], momentum: float
) -> None:
    """Move the running statistics, if any, towards those over `dims`, outside the graph.

    If these leave the batch dimension, towards the mean over the batch.
    """
    if mean is None and var is None:
        return
    recording, modes.grad = modes.grad, False
    try:
        found_var, found_mean = var_mean(input.detach(), tuple(dims))
        for running, found in ((mean, found_mean), (var, found_var)):
            if running is not None:
                found = found.mean(0) if found.ndim > 1 else found
                if modes.levels:
                    found = _without_levels(found, running)
                replace(running, running * (1 - momentum) + found * momentum)
    finally:
        modes.grad = recording


def _without_levels(found: Tensor, running: Tensor) -> Tensor:
    """Statistics without the levels of derivatives that the running ones do not have.

    Raises:
        RuntimeError: they differ from example to example, and the running ones do not.
    """
    held = running
    levels = []
    while isinstance(held, Wrapped):
        levels.append(held._level)
        held = held._value
    while isinstance(found, Wrapped) and found._level not in levels:
        if isinstance(found._level, BatchLevel):
            raise RuntimeError(
                "Batch norm got a batched tensor as input while the running_mean or running_var, "
                "which will be updated in place, were not batched.\nIf you are using a module and "
                "do not need eval mode, please set `track_running_stats` to be False.If you are "
                "using a prebuilt module and do not need eval mode, please see the functorch "
                "website for resources on how to patch your module to work with vmap"
            )
        found = found._value
    return found


@node_name("ViewBackward0")
@takes(REAL, "batch_norm", fused=True)
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
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {input.shape}"
        )
    return normalized_by_instance(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def normalized_by_instance(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """`instance_norm` of any number of values for each channel."""
    if use_input_stats:
        _check_both(running_mean, running_var)
    elif running_mean is None or running_var is None:
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    count, channels, *extents = input.shape
    mean, var, scale, shift = (
        None if each is None else each.repeat(count)
        for each in (running_mean, running_var, weight, bias)
    )
    apart = input.reshape(1, count * channels, *extents)
    out = normalized_by_batch(apart, mean, var, scale, shift, use_input_stats, momentum, eps)
    if use_input_stats and input.numel():
        _track(input, running_mean, running_var, list(range(2, input.ndim)), momentum)
    return out.reshape(input.shape)


def _check_both(mean: Tensor | None, var: Tensor | None) -> None:
    if (mean is None) != (var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")


@node_name(saving("NativeGroupNormBackward0", "input", "weight"))
@takes(REAL, "GroupNormKernelImpl", fused=True)
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
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    count, channels, *extents = input.shape
    _check_values_per_channel([count * channels // num_groups, num_groups, *extents])
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(input.shape)} and num_groups={num_groups}"
        )
    _check_vectors(input, weight=weight, bias=bias)
    split = (count, num_groups, channels // num_groups * math.prod(extents))
    standard = _standardize(input, [2], eps, split)
    return _affine(standard, _align_channels(weight, input), _align_channels(bias, input))


def _check_vectors(input: Tensor, **parameters: Tensor | None) -> None:
    for name, each in parameters.items():
        if each is not None and tuple(each.shape) != (input.shape[1],):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(each.shape)} and input of shape "
                f"{list(input.shape)}"
            )


__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm"]
