"""Activations in pieces: straight lines, and an exponential on the negative side.

Each is one primitive. Where its slope takes several steps that is a primitive too, whose own
derivative is written in operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._dtypes import float64
from gradtool.engine._ops.core.choice import chosen
from gradtool.engine._ops.core.dtype_support import FLOATS, INTEGERS, MEASURED, REAL, takes
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.inplace import in_place
from gradtool.engine._ops.core.kinds import Product
from gradtool.engine._ops.core.kinds import elementwise as elementwise_primitive
from gradtool.engine._ops.core.node_names import node_name, with_node_name
from gradtool.engine._ops.core.stepwise import stepwise
from gradtool.engine._ops.creation.creation import ones_like
from gradtool.engine._ops.creation.random import rand
from gradtool.engine._ops.elementwise import elementwise, gates
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._tensor import Tensor

Activation = Callable[..., Tensor]

# ---- written over the input -----------------------------------------------------------------


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
# As in torch, the gradient is refused if the result is changed again.
_final = elementwise_primitive("final", lambda x: x, 1.0, arguments=("x",), dtypes=REAL).keeping(
    "out"
)


def _numbered(function: Activation, name: str) -> Activation:
    """Return the in-place form, whose node has another number than that of the function."""
    return with_node_name(in_place(function, f"{name.lower()}_"), f"{name}Backward1")


# ---- bounded --------------------------------------------------------------------------------


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
    Product(lambda g, x, low, high: gates.between(g, x, low=low, high=high)),
    arguments=("x",),
    dtypes=MEASURED,
)
_between_over = in_place(_between, "hardtanh_")


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Clamp each entry to the bounds; the gradient at the bounds themselves is zero.

    Raises:
        ValueError: the bounds are in the wrong order.
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (_between_over if inplace else _between)(input, low=min_val, high=max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`hardtanh` from 0 to 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


@stepwise
def _sixths(x: Any) -> Any:
    out = x + 3
    np.clip(out, 0, 6, out=out)
    return np.multiply(out, 1 / 6, out=out)


_hardsigmoid = elementwise_primitive(
    "hardsigmoid",
    _sixths,
    Product(lambda g, x: gates.between(g * (1 / 6), x, low=-3, high=3)),
    arguments=("x",),
    dtypes=REAL,
)
_hardsigmoid_over = in_place(_hardsigmoid, "hardsigmoid_")


@takes(REAL, "hardsigmoid_cpu", fused=True)
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Clamp ``input / 6 + 1 / 2`` to [0, 1]."""
    return (_hardsigmoid_over if inplace else _hardsigmoid)(input)


@stepwise
def _hardswish_of(x: Any) -> Any:
    out = _sixths(x)
    return np.multiply(out, x, out=out)


@stepwise
def _hardswish_slope_of(x: Any) -> Any:
    out = np.clip(x, -3, 3)
    out *= 1 / 3
    out += 0.5
    # The slope jumps where the pieces meet: from zero, and to one.
    out += ((x <= -3).view(np.int8) - (x >= 3).view(np.int8)) * x.dtype.type(0.5)
    return out


_hardswish_slope = elementwise_primitive(
    "hardswish_backward",
    _hardswish_slope_of,
    Product(lambda g, x: (g * (1 / 3)).masked_fill(~(x.abs() < 3), 0)),
    arguments=("x",),
    dtypes=REAL,
)
_hardswish = elementwise_primitive(
    "hardswish",
    _hardswish_of,
    lambda x: _hardswish_slope(x),
    arguments=("x",),
    dtypes=REAL,
)
_hardswish_over = in_place(_hardswish, "hardswish_")


@takes(REAL, "hardswish_cpu", fused=True)
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * hardsigmoid(input)``."""
    return (_hardswish_over if inplace else _hardswish)(input)


# ---- a line on each side of zero ------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the larger of each entry and 0; with `inplace`, write it over `input`."""
    return input.relu_() if inplace else elementwise.relu(input)


@stepwise
def _bent(x: Any, *, slope: float) -> Any:
    out = x * slope
    return np.maximum(x, out, out=out) if 0 < slope <= 1 else chosen(x > 0, x, out)


def _slope_of(x: Any, *, slope: float) -> Any:
    above, kind = x > 0, x.dtype.type
    return np.maximum(above, kind(slope)) if 0 < slope <= 1 else np.where(above, kind(1), slope)


_slope_of_leaky_relu = elementwise_primitive(
    "leaky_relu_backward", _slope_of, 0.0, arguments=("x",), dtypes=REAL
)
_leaky_relu = elementwise_primitive(
    "leaky_relu",
    _bent,
    lambda x, slope: _slope_of_leaky_relu(x, slope=slope),
    arguments=("x",),
    dtypes=REAL,
)


def _bent_for_good(x: Tensor, *, slope: float) -> Tensor:
    """Bend entries such that their sign is lost where the result replaces them."""
    result = _leaky_relu(x, slope=slope)
    return (_unknown_to_leaky_relu if slope < 0 else _final)(result)


_leaky_relu_over = _numbered(_bent_for_good, "LeakyRelu")


@takes(REAL, "leaky_relu_cpu", fused=True)
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Multiply negative entries by a slope."""
    return (_leaky_relu_over if inplace else _leaky_relu)(input, slope=negative_slope)


_prelu = elementwise_primitive(
    "prelu_kernel",
    ignore_fp_warnings(lambda x, weight: chosen(x > 0, x, x * weight)),
    Product(lambda g, x, weight: where(x > 0, g, g * weight)),
    Product(lambda g, x: where(x > 0, 0, g * x)),
    dtypes=FLOATS,
).keeping("weight")


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
    return _prelu(input, slope)


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
    if not training:
        mean = (lower + upper) / 2
        return (_leaky_relu_over if inplace else _leaky_relu)(input, slope=mean)
    falling = input.detach() <= 0
    drawn = rand(int(falling.sum()), dtype=float64, device=input.device)
    slopes = (drawn * (upper - lower) + lower).to(input.dtype)
    noise = ones_like(input.detach()).masked_scatter(falling, slopes)
    return (_prelu_over if inplace else _prelu)(input, noise)


_prelu_over = in_place(_prelu, "rrelu_")


# ---- flat in part ---------------------------------------------------------------------------


@takes(MEASURED, "threshold_cpu", fused=True)
def threshold(input: Tensor, threshold: Any, value: Any, inplace: bool = False) -> Tensor:
    """Replace entries not above the threshold by `value`."""
    threshold = threshold.item() if isinstance(threshold, Tensor) else threshold
    value = value.item() if isinstance(value, Tensor) else value
    return (_threshold_over if inplace else _threshold)(input, level=threshold, value=value)


_threshold = elementwise_primitive(
    "threshold",
    lambda x, *, level, value: chosen(x <= level.real, x.dtype.type(value.real), x),
    Product(lambda g, x, level: gates.above(g, x, level=level.real)),
    arguments=("x",),
    dtypes=INTEGERS | FLOATS,
)
_threshold_over = _numbered(_threshold, "Threshold")
_zero_within = Product(lambda g, x, bound: gates.outside(g, x, bound=bound))

_hardshrink = elementwise_primitive(
    "hardshrink",
    lambda x, *, bound: chosen((x >= -bound) & (x <= bound), x.dtype.type(0), x),
    _zero_within,
    arguments=("x",),
    dtypes=FLOATS,
)
_softshrink = elementwise_primitive(
    "softshrink",
    stepwise(lambda x, *, bound: x - np.clip(x, -bound, bound)),
    _zero_within,
    arguments=("x",),
    dtypes=FLOATS,
)


@takes(REAL, "hardshrink_cpu", fused=True)
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Replace entries of magnitude up to `lambd` by zero."""
    return _hardshrink(input, bound=lambd)


@takes(REAL, "softshrink_cpu", fused=True)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Move each entry towards zero by `lambd`, and no further.

    Raises:
        RuntimeError: `lambd` is negative.
    """
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return _softshrink(input, bound=lambd)


# ---- exponential on the negative side -------------------------------------------------------
#
# ``scale * x`` above zero, and below it ``scale * alpha * (exp(rate * x) - 1)``.


@stepwise
def _curve(x: Any, *, alpha: float, scale: float, rate: float) -> Any:
    below = np.minimum(x, 0)
    below *= rate
    np.expm1(below, out=below)
    below *= alpha * scale
    above = np.maximum(x, 0)
    above *= scale
    return np.add(below, above, out=above)


@stepwise
def _slope_of_curve(x: Any, *, alpha: float, scale: float, rate: float) -> Any:
    below = np.exp(np.minimum(x, 0) * rate)
    below *= alpha * scale * rate
    return chosen(x <= 0, below, np.full_like(below, scale))


_slope_of_elu = elementwise_primitive(
    "elu_backward",
    _slope_of_curve,
    lambda x, out, rate: (out * rate).masked_fill(~(x < 0), 0),
    arguments=("x",),
    dtypes=REAL,
)
_elu = elementwise_primitive(
    "elu",
    _curve,
    lambda x, alpha, scale, rate: _slope_of_elu(x, alpha=alpha, scale=scale, rate=rate),
    arguments=("x",),
    dtypes=REAL,
)


def _elu_for_good(x: Tensor, *, alpha: float, scale: float, rate: float) -> Tensor:
    """Apply `elu` such that signs are lost where the result replaces the input."""
    result = _elu(x, alpha=alpha, scale=scale, rate=rate)
    return (_unknown_to_elu if alpha < 0 else _final)(result)


_elu_over, _celu_over = _numbered(_elu_for_good, "Elu"), _numbered(_elu_for_good, "Celu")


@takes(REAL, "elu_cpu", fused=True)
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``alpha * (exp(input) - 1)`` where negative."""
    return (_elu_over if inplace else _elu)(input, alpha=alpha, scale=1.0, rate=1.0)


_SELF_NORMALIZING = {"alpha": 1.6732632423543772, "scale": 1.0507009873554805, "rate": 1.0}


@takes(REAL, "elu_cpu", fused=True)
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` with the constants that keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    return (_elu_over if inplace else _elu)(input, **_SELF_NORMALIZING)


@node_name(lambda *_, inplace=False, **__: f"CeluBackward{int(inplace)}")
@takes(REAL, "elu_cpu", fused=True)
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``alpha * (exp(input / alpha) - 1)`` where negative.

    Raises:
        RuntimeError: `alpha` is zero.
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    if inplace:
        return _celu_over(input, alpha=alpha, scale=1.0, rate=1 / alpha)
    return _elu(input, alpha=alpha, scale=1.0, rate=1 / alpha)


__all__ = [
    "celu", "elu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "prelu",
    "relu", "relu6", "rrelu", "selu", "softshrink", "threshold",
]  # fmt: skip
