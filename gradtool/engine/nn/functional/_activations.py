"""Activations: elementwise functions, softmax and its variants."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._dtypes import float64
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.dtype_support import MEASURED, REAL, SMOOTH, takes
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.inplace import in_place
from gradtool.engine._ops.core.kinds import Product
from gradtool.engine._ops.core.kinds import elementwise as elementwise_primitive
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._ops.creation.creation import ones_like
from gradtool.engine._ops.creation.distributions import exponential
from gradtool.engine._ops.creation.random import rand
from gradtool.engine._ops.elementwise import elementwise
from gradtool.engine._ops.elementwise.elementwise import exp, log, log1p, sigmoid, tanh
from gradtool.engine._ops.elementwise.powers import logaddexp
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.elementwise.special import erf
from gradtool.engine._ops.reductions import softmax as _softmax
from gradtool.engine._tensor import Tensor

Activation = Callable[..., Tensor]


def _with_inplace_option(function: Activation) -> Activation:
    """Let ``inplace=True`` write the result over the input."""
    over = in_place(function, f"{function.__name__}_")

    @functools.wraps(function)
    def either(input: Tensor, *args: Any, inplace: bool = False, **named: Any) -> Tensor:
        return (over if inplace else function)(input, *args, **named)

    return either


def _not_invertible(message: str) -> Activation:
    """The identity without a gradient, after an in-place change that loses the input's sign."""

    def refuse(g: Tensor) -> Tensor:
        raise RuntimeError(message)

    return elementwise_primitive("identity", lambda x: x, Product(refuse), arguments=("x",))


_NEGATIVE = (
    "In-place {0} backward calculation is triggered with a negative slope which is not supported. "
    "This is caused by calling in-place forward function with a negative slope, please call "
    "out-of-place version instead.{1}"
)
_ISSUE = (
    " File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place "
    "leakRelu backward calculation with negative slope"
)
_unknown_to_leaky_relu = _not_invertible(_NEGATIVE.format("leakyReLu", _ISSUE))
_unknown_to_elu = _not_invertible(_NEGATIVE.format("elu", ""))


# ---- in pieces ------------------------------------------------------------------------------


def _clip_entries(x: Any, *, low: float, high: float) -> Any:
    if x.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if x.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    if x.dtype.kind == "u" and (low < 0 or high < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return np.clip(x, x.dtype.type(low), x.dtype.type(high))


_between = elementwise_primitive(
    "hardtanh",
    _clip_entries,
    Product(lambda g, x, low, high: g.masked_fill((x <= low) | (x >= high), 0)),
    arguments=("x",),
    dtypes=MEASURED,
)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the larger of each entry and 0; with `inplace`, write it over `input`."""
    return input.relu_() if inplace else elementwise.relu(input)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Clamp each entry to the bounds; the gradient at the bounds themselves is zero.

    Raises:
        ValueError: the bounds are in the wrong order.
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _hardtanh(input, min_val, max_val, inplace=inplace)


@_with_inplace_option
def _hardtanh(input: Tensor, low: float, high: float) -> Tensor:
    return _between(input, low=low, high=high)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`hardtanh` from 0 to 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def _node_of(name: str) -> Callable[..., str]:
    """Return the rule for the node's name, which has another number where the input is changed."""
    return lambda *_, inplace=False, **__: f"{name}Backward{int(inplace)}"


@node_name(_node_of("LeakyRelu"))
@takes(REAL, "leaky_relu_cpu", fused=True)
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Multiply negative entries by a slope."""
    lost = inplace and negative_slope < 0
    return _leaky_relu(input, negative_slope, lost, inplace=inplace)


@_with_inplace_option
def _leaky_relu(input: Tensor, slope: Any, lost: bool = False) -> Tensor:
    result = where(input > 0, input, input * slope)
    return _unknown_to_leaky_relu(result) if lost else result


@node_name("PreluKernelBackward0")
@takes(REAL, "prelu_cpu", fused=True)
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`leaky_relu` with a learned slope, or one for each channel.

    Raises:
        RuntimeError: the number of slopes is neither 1 nor the number of channels.
    """
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.numel() not in (1, channels):
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{weight.numel()} and channel size = {channels}."
        )
    behind = [1] * max(input.ndim - 2, 0)
    slope = weight.reshape(-1, *behind) if input.ndim > 1 else weight.reshape(-1)[0]
    return _leaky_relu(input, slope)


@node_name("RreluWithNoiseBackward0")
@takes(REAL, "leaky_relu_cpu", fused=True)
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """`leaky_relu` with random slopes in training, and their mean otherwise."""
    slope: Any = (lower + upper) / 2
    if training:
        falling = input.detach() <= 0
        drawn = rand(int(falling.sum()), dtype=float64, device=input.device)
        slopes = (drawn * (upper - lower) + lower).to(input.dtype)
        slope = ones_like(input.detach()).masked_scatter(falling, slopes)
    lost = inplace and not training and slope < 0
    return _leaky_relu(input, slope, lost, inplace=inplace)


@node_name("ThresholdBackward0")
@takes(MEASURED, "threshold_cpu", fused=True)
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Replace entries not above the threshold by `value`."""
    return _threshold(input, threshold, value, inplace=inplace)


@_with_inplace_option
def _threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    return input.masked_fill(input <= threshold, value)


@node_name("HardshrinkBackward0")
@takes(REAL, "hardshrink_cpu", fused=True)
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Replace entries of magnitude up to `lambd` by zero."""
    return input.masked_fill((input >= -lambd) & (input <= lambd), 0)


@node_name("SoftshrinkBackward0")
@takes(REAL, "softshrink_cpu", fused=True)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Move each entry towards zero by `lambd`, and no further.

    Raises:
        RuntimeError: `lambd` is negative.
    """
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    shifted = where(input > lambd, input - lambd, where(input < -lambd, input + lambd, 0))
    return where(input != input, input, shifted)


@node_name("HardsigmoidBackward0")
@takes(REAL, "hardsigmoid_cpu", fused=True)
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Clamp ``input / 6 + 1 / 2`` to [0, 1]."""
    return _hardsigmoid(input, inplace=inplace)


@_with_inplace_option
def _hardsigmoid(input: Tensor) -> Tensor:
    return relu6(input + 3) / 6


@node_name("HardswishBackward0")
@takes(REAL, "hardswish_cpu", fused=True)
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * hardsigmoid(input)``."""
    return _hardswish(input, inplace=inplace)


@_with_inplace_option
def _hardswish(input: Tensor) -> Tensor:
    return input * relu6(input + 3) / 6


# ---- exponential on the negative side -------------------------------------------------------


# As PyTorch's, the slope is constant where the pieces meet, and as exact as `exp` far from there.
_elu_curve = elementwise_primitive(
    "expm1",
    ignore_fp_warnings(np.expm1),
    Product(lambda g, x: g * exp(x).masked_fill(x == 0, 1)),
    arguments=("x",),
)


@node_name(_node_of("Elu"))
@takes(REAL, "elu_cpu", fused=True)
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``alpha * (exp(input) - 1)`` where negative."""
    return _elu(input, alpha, lost=inplace and alpha < 0, inplace=inplace)


@_with_inplace_option
def _elu(
    input: Tensor, alpha: float, scale: float = 1.0, rate: float = 1.0, lost: bool = False
) -> Tensor:
    below = input <= 0
    negative = where(below, input, 0)
    curve = _elu_curve(negative * rate if rate != 1 else negative) * (alpha * scale)
    result = where(below, curve, input * scale if scale != 1 else input)
    return _unknown_to_elu(result) if lost else result


@node_name(_node_of("Elu"))
@takes(REAL, "elu_cpu", fused=True)
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` with the constants that keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    return _elu(input, 1.6732632423543772, 1.0507009873554805, inplace=inplace)


@node_name(_node_of("Celu"))
@takes(REAL, "elu_cpu", fused=True)
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``alpha * (exp(input / alpha) - 1)`` where negative.

    Raises:
        RuntimeError: `alpha` is zero.
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu(input, alpha, 1.0, 1 / alpha, inplace and alpha < 0, inplace=inplace)


# ---- smooth ---------------------------------------------------------------------------------


@node_name("SoftplusBackward0")
@takes(REAL, "softplus_cpu", fused=True)
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``; the entry itself beyond the threshold."""
    scaled = input * beta
    large = scaled > threshold
    return where(large, input, log1p(exp(scaled.masked_fill(large, 0))) / beta)


@node_name("LogSigmoidBackward0")
@takes(REAL, "log_sigmoid_cpu", fused=True)
def logsigmoid(input: Tensor) -> Tensor:
    """Logarithm of `sigmoid`."""
    return -logaddexp(-input, 0.0)


@node_name("SiluBackward0")
@takes(SMOOTH, "silu_cpu", fused=True)
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``."""
    return _silu(input, inplace=inplace)


@_with_inplace_option
def _silu(input: Tensor) -> Tensor:
    return input * sigmoid(input)


@node_name("MishBackward0")
@takes(REAL, "mish_cpu", fused=True)
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(softplus(input))``."""
    return _mish(input, inplace=inplace)


@_with_inplace_option
def _mish(input: Tensor) -> Tensor:
    return input * tanh(softplus(input))


@node_name("GeluBackward0")
@takes(REAL, "GeluKernelImpl", fused=True)
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """The input times the normal CDF at it, which ``tanh`` approximates.

    Raises:
        RuntimeError: the approximation is unknown.
    """
    if approximate == "none":
        return input * 0.5 * (1 + erf(input * math.sqrt(0.5)))
    if approximate != "tanh":
        raise RuntimeError("approximate argument must be either none or tanh.")
    inner = (input + input * input * input * 0.044715) * math.sqrt(2 / math.pi)
    return input * 0.5 * (1 + tanh(inner))


def softsign(input: Tensor) -> Tensor:
    """``input / (1 + |input|)``."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    return input - tanh(input)


# ---- written over the input -----------------------------------------------------------------


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
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid",
    "hardswish", "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid",
    "mish", "prelu", "relu", "relu6", "relu_", "rrelu", "rrelu_", "selu", "selu_", "sigmoid",
    "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink",
    "threshold", "threshold_",
]  # fmt: skip
