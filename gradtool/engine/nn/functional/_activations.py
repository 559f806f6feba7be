"""Smooth activations, softmax and its variants, and the forms that change their input."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.dtype_support import (
    FLOATS,
    REAL,
    SMOOTH,
    refuse_complex_gradient,
    takes,
)
from gradtool.engine._ops.core.inplace import in_place
from gradtool.engine._ops.core.kinds import elementwise
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.core.stepwise import stepwise
from gradtool.engine._ops.creation.distributions import exponential
from gradtool.engine._ops.elementwise.elementwise import exp, log, sigmoid, tanh
from gradtool.engine._ops.elementwise.special import erf_of
from gradtool.engine._ops.reductions import softmax as _softmax
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._piecewise import (
    celu,
    elu,
    hardtanh,
    leaky_relu,
    relu,
    rrelu,
    selu,
    threshold,
)

# ---- one primitive each, and one for the slope ----------------------------------------------


@stepwise
def _softplus_of(x: Any, *, beta: float, threshold: float) -> Any:
    scaled = x * beta
    large = scaled > threshold
    out = np.exp(scaled, out=scaled)
    np.log1p(out, out=out)
    out /= beta
    return np.where(large, x, out) if large.any() else out


@stepwise
def _softplus_slope_of(x: Any, *, beta: float, threshold: float) -> Any:
    out = x * -beta
    large = out < -threshold
    np.exp(out, out=out)
    out += 1
    np.reciprocal(out, out=out)
    return np.where(large, x.dtype.type(1), out) if large.any() else out


_softplus_slope = elementwise(
    "softplus_backward",
    _softplus_slope_of,
    lambda out, beta: out * (1 - out) * beta,
    arguments=("x",),
    dtypes=FLOATS,
)
_softplus = elementwise(
    "softplus",
    _softplus_of,
    lambda x, beta, threshold: _softplus_slope(x, beta=beta, threshold=threshold),
    arguments=("x",),
    dtypes=FLOATS,
)


@node_name("SoftplusBackward0")
@takes(REAL, "softplus_cpu", fused=True)
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``; the entry itself beyond the threshold."""
    return _softplus(input, beta=beta, threshold=threshold)


@stepwise
def _log_sigmoid_of(x: Any) -> Any:
    out = np.abs(x)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    return np.subtract(np.minimum(x, 0), out, out=out)


_log_sigmoid = elementwise(
    "log_sigmoid", _log_sigmoid_of, lambda x: sigmoid(-x), arguments=("x",), dtypes=FLOATS
)


@takes(REAL, "log_sigmoid_cpu", fused=True)
def logsigmoid(input: Tensor) -> Tensor:
    """Logarithm of `sigmoid`."""
    return _log_sigmoid(input)


def _sigmoid_of(x: Any) -> Any:
    out = np.negative(x)
    np.exp(out, out=out)
    out += 1
    return np.reciprocal(out, out=out)


@stepwise
def _silu_of(x: Any) -> Any:
    out = np.negative(x)
    np.exp(out, out=out)
    out += 1
    return np.divide(x, out, out=out)


@stepwise
def _silu_slope_of(x: Any) -> Any:
    part = _sigmoid_of(x)
    out = 1 - part
    out *= x
    out += 1
    return np.multiply(out, part, out=out)


def _silu_curvature(x: Tensor) -> Tensor:
    part = sigmoid(x)
    return part * (1 - part) * (x * (1 - part * 2) + 2)


_silu_slope = elementwise(
    "silu_backward", _silu_slope_of, _silu_curvature, arguments=("x",), dtypes=SMOOTH
)
_silu = elementwise("silu", _silu_of, lambda x: _silu_slope(x), arguments=("x",), dtypes=SMOOTH)
_silu_over = in_place(_silu, "silu_")


@takes(SMOOTH, "silu_cpu", fused=True)
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``.

    Raises:
        RuntimeError: a complex tensor requires a gradient.
    """
    if not inplace:
        refuse_complex_gradient("silu", input)
    return (_silu_over if inplace else _silu)(input)


def _tanh_of_softplus(x: Any) -> Any:
    """``n / (n + 2)`` with ``n = exp(x) * (exp(x) + 2)``, which is 1 before it overflows."""
    power = np.exp(np.minimum(x, 40))
    out = power + 2
    out *= power
    return np.divide(out, out + 2, out=out)


@stepwise
def _mish_of(x: Any) -> Any:
    out = _tanh_of_softplus(x)
    return np.multiply(out, x, out=out)


@stepwise
def _mish_slope_of(x: Any) -> Any:
    value = _tanh_of_softplus(x)
    out = 1 - value * value
    out *= x
    out *= _sigmoid_of(x)
    return np.add(out, value, out=out)


def _mish_curvature(x: Tensor) -> Tensor:
    part, value = sigmoid(x), tanh(softplus(x))
    slope = (1 - value * value) * part
    return slope * (x * (1 - part - value * part * 2) + 2)


_mish_slope = elementwise(
    "mish_backward", _mish_slope_of, _mish_curvature, arguments=("x",), dtypes=REAL
)
_mish = elementwise("mish", _mish_of, lambda x: _mish_slope(x), arguments=("x",), dtypes=REAL)
_mish_over = in_place(_mish, "mish_")


@takes(REAL, "mish_cpu", fused=True)
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(softplus(input))``."""
    return (_mish_over if inplace else _mish)(input)


# ---- the input times the normal CDF at it ---------------------------------------------------

_DENSITY = 1 / math.sqrt(2 * math.pi)


def _normal_cdf(x: Any) -> Any:
    out = erf_of(x * math.sqrt(0.5))
    out += 1
    out *= 0.5
    return out


@stepwise
def _gelu_of(x: Any) -> Any:
    out = _normal_cdf(x)
    return np.multiply(out, x, out=out)


@stepwise
def _gelu_slope_of(x: Any) -> Any:
    out = x * x
    out *= -0.5
    np.exp(out, out=out)
    out *= x
    out *= _DENSITY
    out += _normal_cdf(x)
    return out


_gelu_slope = elementwise(
    "gelu_backward",
    _gelu_slope_of,
    lambda x: exp(x * x * -0.5) * (2 - x * x) * _DENSITY,
    arguments=("x",),
    dtypes=FLOATS,
)
_gelu = elementwise("gelu", _gelu_of, lambda x: _gelu_slope(x), arguments=("x",), dtypes=FLOATS)

_INNER, _CUBIC = math.sqrt(2 / math.pi), 0.044715


def _tanh_inside(x: Any) -> Any:
    out = x * x
    out *= _CUBIC
    out += 1
    out *= x
    out *= _INNER
    return np.tanh(out, out=out)


@stepwise
def _near_gelu_of(x: Any) -> Any:
    out = _tanh_inside(x)
    out += 1
    out *= 0.5
    return np.multiply(out, x, out=out)


@stepwise
def _near_gelu_slope_of(x: Any) -> Any:
    value = _tanh_inside(x)
    out = x * x
    out *= 3 * _CUBIC
    out += 1
    out *= x
    out *= _INNER
    out *= 1 - value * value
    out += value
    out += 1
    out *= 0.5
    return out


def _near_gelu_curvature(x: Tensor) -> Tensor:
    square = x * x
    value = tanh((square * _CUBIC + 1) * x * _INNER)
    inner = (square * (3 * _CUBIC) + 1) * _INNER
    bend = square * (3 * _CUBIC * _INNER)
    return (1 - value * value) * (inner + bend - x * value * inner * inner)


_near_gelu_slope = elementwise(
    "gelu_backward", _near_gelu_slope_of, _near_gelu_curvature, arguments=("x",), dtypes=FLOATS
)
_near_gelu = elementwise(
    "gelu", _near_gelu_of, lambda x: _near_gelu_slope(x), arguments=("x",), dtypes=FLOATS
)


@takes(REAL, "GeluKernelImpl", fused=True)
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """The input times the normal CDF at it, which ``tanh`` approximates.

    Raises:
        RuntimeError: the approximation is unknown.
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return (_gelu if approximate == "none" else _near_gelu)(input)


def softsign(input: Tensor) -> Tensor:
    """``input / (1 + |input|)``."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    return input - tanh(input)


# ---- written over the input -----------------------------------------------------------------


Activation = Callable[..., Tensor]


def _over_input(function: Activation) -> Activation:
    """The function with ``inplace=True``, under its name with an underscore."""

    @functools.wraps(function)
    def over(input: Tensor, *args: Any, **named: Any) -> Tensor:
        return function(input, *args, **named, inplace=True)

    over.__name__ = over.__qualname__ = f"{function.__name__}_"
    over.__doc__ = f"`{function.__name__}`, written over the tensor itself."
    return over


relu_, threshold_ = _over_input(relu), _over_input(threshold)
hardtanh_, leaky_relu_ = _over_input(hardtanh), _over_input(leaky_relu)
rrelu_, elu_ = _over_input(rrelu), _over_input(elu)
selu_, celu_ = _over_input(selu), _over_input(celu)


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """``exp(input)`` scaled to sum to 1 along `dim`, after a cast to `dtype`."""
    return _softmax.softmax(input, _default_dim(input, dim), dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`softmax` of the negative."""
    return softmax(-input, dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """The logarithm of `softmax`."""
    return _softmax.log_softmax(input, _default_dim(input, dim), dtype)


def _default_dim(input: Tensor, dim: int | None) -> int:
    """The dimension that PyTorch uses when none is given."""
    if dim is not None:
        return dim
    return 0 if input.ndim in (0, 1, 3) else 1


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """`softmax` of the logits with Gumbel noise, divided by a temperature.

    With `hard`, the value is one-hot and the gradient that of the soft result.
    """
    noise = -log(exponential(logits.shape, dtype=logits.dtype, device=logits.device))
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    dim = wrap_dim(dim, logits.ndim)
    chosen = soft.detach().argmax(dim, keepdim=True)
    one_hot = soft.new_zeros(soft.shape).scatter(dim, chosen, 1.0)
    return one_hot - soft.detach() + soft


@node_name("GluBackward0")
@takes(REAL, "glu_cpu", fused=True)
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Multiply the first half along a dimension by the sigmoid of the second.

    Raises:
        RuntimeError: the dimension has no two equal halves.
    """
    if input.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, input.ndim)
    if input.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}"
        )
    first, second = input.chunk(2, dim)
    return first * sigmoid(second)


__all__ = [
    "celu_", "elu_", "gelu", "glu", "gumbel_softmax", "hardtanh_", "leaky_relu_", "log_softmax",
    "logsigmoid", "mish", "relu_", "rrelu_", "selu_", "sigmoid", "silu", "softmax", "softmin",
    "softplus", "softsign", "tanh", "tanhshrink", "threshold_",
]  # fmt: skip
