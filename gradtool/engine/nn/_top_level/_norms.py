"""Normalizations that return the statistics too, or take them after the parameters."""

from __future__ import annotations

from collections.abc import Sequence

from gradtool.engine._ops.core.node_names import with_node_name
from gradtool.engine._ops.elementwise.elementwise import rsqrt
from gradtool.engine._ops.reductions.norm import norm
from gradtool.engine._ops.reductions.statistics import var_mean
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional
from gradtool.engine.nn.functional._normalizing import normalized_by_batch, normalized_by_instance

_by_batch = with_node_name(normalized_by_batch, "NativeBatchNormBackward0")
_by_instance = with_node_name(normalized_by_instance, "ViewBackward0")

Normalized = tuple[Tensor, Tensor, Tensor]
"""The result, the means, and the reciprocals of the standard deviations."""


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.batch_norm`, which takes a single value for each channel too."""
    out: Tensor = _by_batch(input, running_mean, running_var, weight, bias, training, momentum, eps)
    return out


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.instance_norm`, which takes a single value for each channel too."""
    out: Tensor = _by_instance(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )
    return out


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """`nn.functional.layer_norm`."""
    return functional.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """`nn.functional.group_norm`."""
    return functional.group_norm(input, num_groups, weight, bias, eps)


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Normalized:
    """`batch_norm` and the batch's statistics, which are empty outside training."""
    out = _by_batch(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return out, input.new_empty(0), input.new_empty(0)
    mean, deviation = _statistics(input.detach(), [0, *range(2, input.ndim)], eps)
    return out, mean, deviation


def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Normalized:
    """`layer_norm` and its statistics."""
    out = functional.layer_norm(input, normalized_shape, weight, bias, eps)
    last = range(input.ndim - len(normalized_shape), input.ndim)
    mean, deviation = _statistics(input.detach(), last, eps, keepdim=True)
    return out, mean, deviation


def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,  # noqa: N803 - the names are PyTorch's
    C: int,  # noqa: N803 - as above
    HxW: int,  # noqa: N803 - as above
    group: int,
    eps: float,
) -> Normalized:
    """`group_norm` and its statistics."""
    out = functional.group_norm(input, group, weight, bias, eps)
    mean, deviation = _statistics(input.reshape(N, group, C // group * HxW), [2], eps)
    return out, mean, deviation


def _statistics(
    input: Tensor, dims: Sequence[int], eps: float, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    variance, mean = var_mean(input, tuple(dims), correction=0, keepdim=keepdim)
    return mean, rsqrt(variance + eps)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms of the slices along a dimension; of everything if it is -1."""
    if dim == -1:
        return norm(v, pow)
    others = tuple([each for each in range(v.ndim) if each != dim])
    return norm(v, pow, others, keepdim=True)
