"""``torch.nn.init``: initial values of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable

from gradtool.engine._ops.creation.creation import eye
from gradtool.engine._ops.creation.generators import Generator
from gradtool.engine._ops.creation.random import randperm
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.linalg.qr import qr
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Draw from the uniform distribution on [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Draw from the normal distribution."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Draw from the normal distribution truncated to [a, b], by rejection or by inversion."""
    low, high = (math.erf((bound - mean) / (std * math.sqrt(2.0))) for bound in (a, b))
    with no_grad():
        if high - low <= _RARE:
            tensor.uniform_(low, high, generator=generator).erfinv_()
            return tensor.mul_(std * math.sqrt(2.0)).add_(mean).clamp_(min=a, max=b)
        tensor.normal_(mean, std, generator=generator)
        while bool((outside := (tensor < a) | (tensor > b)).any()):
            other = tensor.new_empty(tensor.shape).normal_(mean, std, generator=generator)
            tensor.copy_(where(outside, other, tensor))
    return tensor


_RARE = 0.6
"""Twice the probability of lying inside, below which rejection would take long."""


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Make the rows, or the columns if they are fewer, orthonormal times `gain`.

    They are the QR factor of a matrix of normal numbers (Saxe et al., 2013); further dimensions
    count as columns.
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    with no_grad():
        flat = tensor.new_empty((rows, tensor.numel() // rows)).normal_(generator=generator)
        tall = flat.t() if rows < flat.shape[1] else flat
        q, r = qr(tall)
        q = q * r.diagonal().sign()
        q = q.t() if rows < flat.shape[1] else q
        return tensor.copy_(q.reshape(tensor.shape)).mul_(gain)


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Make the weight of a convolution the identity on as many channels as possible."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.shape[0] // groups
    middle = [extent // 2 for extent in tensor.shape[2:]]
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.shape[1])):
                tensor[(group * per_group + channel, channel, *middle)] = 1
    return tensor


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Draw a matrix from the normal distribution, with a fraction of each column zero."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows)[: math.ceil(sparsity * rows)], column] = 0
    return tensor


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


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Draw uniformly with the variance of `xavier_normal_`."""
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw with the variance ``gain² · 2 / (fan_in + fan_out)`` (Glorot and Bengio, 2010)."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / sum(_fans(tensor)))


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Draw uniformly with the variance of `kaiming_normal_`."""
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Draw with the variance ``gain² / fan`` (He et al., 2015)."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fans = dict(zip(("fan_in", "fan_out"), _fans(tensor), strict=True))
    if mode not in fans:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(fans)}")
    return calculate_gain(nonlinearity, a) / math.sqrt(fans[mode])


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the gain that compensates for a nonlinearity."""
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
    """Return fan-in and fan-out."""
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
