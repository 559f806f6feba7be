"""Ways to fill a parameter with its first values."""

from __future__ import annotations

import math
from collections.abc import Callable

from gradtool.engine._ops.creation import eye
from gradtool.engine._ops.random import rand_like, randn_like
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad

__all__ = [
    "calculate_gain",
    "constant_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Draw from the uniform distribution on [a, b)."""
    return _filled(tensor, lambda: rand_like(tensor) * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Draw from the normal distribution."""
    return _filled(tensor, lambda: randn_like(tensor) * std + mean)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Set every entry to one value."""
    with no_grad():
        tensor.fill_(val)
    return tensor


def ones_(tensor: Tensor) -> Tensor:
    """Set every entry to 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Set every entry to 0."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix the identity."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _filled(tensor, lambda: eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Draw uniformly with the variance of `xavier_normal_`."""
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Draw with the variance ``gain² · 2 / (fan_in + fan_out)`` (Glorot and Bengio, 2010)."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain))


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / sum(_fans(tensor)))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Draw uniformly with the variance of `kaiming_normal_`."""
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Draw with the variance ``gain² / fan`` (He et al., 2015)."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity))


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fans = dict(zip(("fan_in", "fan_out"), _fans(tensor), strict=True))
    if mode not in fans:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(fans)}")
    return calculate_gain(nonlinearity, a) / math.sqrt(fans[mode])


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which a layer's scale makes up for what its nonlinearity takes away."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs reach an output, and how many outputs an input reaches."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    fan_out, fan_in, *kernel = tensor.shape
    return fan_in * math.prod(kernel), fan_out * math.prod(kernel)


def _filled(tensor: Tensor, values: Callable[[], Tensor]) -> Tensor:
    with no_grad():
        tensor.copy_(values())
    return tensor
