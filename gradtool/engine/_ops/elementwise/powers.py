"""Powers, logarithms of pairs, and products with a logarithm or a sine."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dtype_support import (
    NUMBERS,
    ORDERED,
    REAL,
    SMOOTH,
    not_implemented,
    refusing_complex,
    refusing_integers,
    takes,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import (
    REAL_NUMBERS,
    Operation,
    Product,
    binary,
    elementwise,
    unary,
    zeros_like,
)
from gradtool.engine._ops.core.node_names import numbered
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.promotion import result_type
from gradtool.engine._ops.elementwise.elementwise import cos, exp2, log, sigmoid, sin
from gradtool.engine._tensor import Tensor, wrap

# ---- powers: a number as the exponent --------------------------------------------------------


@ignore_fp_warnings
def _to_number(x: Any, *, exponent: Any) -> Any:
    """NumPy's operator has short cuts for squares, roots and reciprocals; two more are ours."""
    if x.dtype.kind == "b":
        return x.copy() if exponent else np.ones_like(x)
    if exponent == 3:
        return x * x * x
    return 1 / np.sqrt(x) if exponent == -0.5 else x**exponent


def _to_number_vjp(g: Tensor, x: Tensor, exponent: Any) -> Tensor:
    # Short cuts, unless the gradient is recorded: torch's depends on `x` even if it is constant.
    if not (modes.grad and x._requires_grad):
        if exponent == 2:
            return g * (x + x)
        if exponent == 1:
            return g
    # Zero times the infinite reciprocal of zero would be NaN.
    if exponent == 0:
        return zeros_like(g)
    rate: Tensor = _power_to_number(x, exponent=exponent - 1) * exponent
    return g * rate


_power_to_number = elementwise(
    "pow", _to_number, Product(_to_number_vjp), arguments=("x",), dtypes=NUMBERS
)


def _pow_number(x: Tensor, exponent: Any) -> Tensor:
    common = result_type(x, exponent)
    if not common.is_differentiable and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return _power_to_number(x if x.dtype is common else x.to(common), exponent=exponent)


# ---- powers: a tensor as the exponent --------------------------------------------------------


@ignore_fp_warnings
def _power(x: Any, y: Any) -> Any:
    if x.dtype.kind == "b":
        raise not_implemented("pow", x.dtype)
    if x.dtype.kind in "iu":
        return _integer_power(x, y)
    return np.power(x, y)


def _integer_power(x: Any, y: Any) -> Any:
    """Powers of integers; to a negative one: that of 1 and -1, and 0 for the rest."""
    # NumPy refuses to raise integers to negative integers.
    power = np.power(x, np.maximum(y, 0))
    of_unit = np.where((x == -1) & (y % 2 == 1), -1, 1)
    inverse = np.where((x == 1) | (x == -1), of_unit, 0)
    return np.where(y < 0, inverse, power).astype(x.dtype)


def _by_base(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Zero for a zero exponent of any base."""
    by_base: Tensor = (g * (y * pow(x, y - 1))).masked_fill(y == 0, 0)
    return by_base


def _by_exponent(g: Tensor, x: Any, y: Tensor, out: Tensor) -> Tensor:
    """Zero where zero is raised to what is not negative: the limit, though log is infinite."""
    if isinstance(x, Tensor):
        # As complex where the power is: a real negative number has no real logarithm.
        base = x.to(out.dtype) if out.is_complex() else x
        rate: Tensor = (out * log(base)).masked_fill((x == 0) & _is_not_negative(y), 0)
    elif x != 0:
        rate = out * _log_of_number(x, y)
    else:
        rate = (out * -math.inf).masked_fill(_is_not_negative(y), 0)
    return g * rate


def _is_not_negative(y: Tensor) -> Tensor:
    found: Tensor = (y.real >= 0) & (y.imag == 0) if y.is_complex() else y >= 0
    return found


def _log_of_number(x: Any, y: Tensor) -> Any:
    """The logarithm, complex where the exponent is, else NaN for a negative number."""
    if isinstance(x, complex) or y.is_complex():
        return cmath.log(x)
    return math.log(x) if x > 0 else math.nan


_pow_tensor = binary(
    "pow", _power, (Product(_by_base), Product(_by_exponent)), dtypes=NUMBERS, keeps=("out",)
)


@op(in_place=True)
def pow(x: Any, exponent: Any) -> Tensor:
    """`x` to the power of `exponent`; one of them may be a number.

    Raises:
        RuntimeError: an integer tensor is raised to a negative integer number.
    """
    if x.__class__ is Tensor and exponent.__class__ in REAL_NUMBERS and x._array.dtype.kind in "fc":
        out = wrap(_to_number(x._array, exponent=exponent))
        if x._requires_grad and modes.grad:
            _power_to_number.record((0,), (x,), {"exponent": exponent}, out)
        return out
    if isinstance(exponent, Tensor):
        return _pow_tensor(x, exponent)
    if isinstance(x, Tensor) and isinstance(exponent, int | float | complex | np.generic):
        number = exponent.item() if isinstance(exponent, np.generic) else exponent
        return _pow_number(x, number)
    raise TypeError(
        f"pow(): needs a tensor and a number or a tensor, not {type(x).__name__} and "
        f"{type(exponent).__name__}"
    )


# ---- products with a logarithm: zero times anything is zero ----------------------------------


def _times(logarithm: Any) -> Any:
    return lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * logarithm(y)).astype(x.dtype)


def _number_among(x: Any, y: Any) -> int:
    """Return 1 for a number first, 2 for one second, 0 for none."""
    return 1 if not isinstance(x, Tensor) else 2 * (not isinstance(y, Tensor))


xlogy: Operation = op(
    binary(
        "xlogy",
        refusing_complex("xlogy_cpu", ignore_fp_warnings(_times(np.log))),
        (
            Product(lambda g, x, y: xlogy(g, y).masked_fill((x == 0) & (y <= 0), 0)),
            Product(lambda g, x, y: g * x / y),
        ),
        of_integers="float",
        dtypes=REAL,
    ),
    in_place=True,
    node=numbered("Xlogy", _number_among),
)
xlog1py: Operation = binary(
    "special_xlog1py",
    refusing_complex("xlog1py_cpu", ignore_fp_warnings(_times(np.log1p))),
    (
        Product(lambda g, x, y: xlog1py(g, y).masked_fill((x == 0) & (y <= -1), 0)),
        Product(lambda g, x, y: g * x / (y + 1)),
    ),
    of_integers="float",
    dtypes=REAL,
)


@ignore_fp_warnings
def _entropy(x: Any) -> Any:
    return np.where(x > 0, -x * np.log(x), np.where(x == 0, 0, np.where(x < 0, -np.inf, x)))


entr = unary(
    "special_entr",
    refusing_complex("entr", lambda x: _entropy(x).astype(x.dtype)),
    lambda x: -1 - log(x),
    dtypes=ORDERED,
)


@ignore_fp_warnings
def _log_of_odds(x: Any, *, eps: float | None) -> Any:
    inside = x if eps is None else np.clip(x, eps, 1 - eps)
    # `log1p` keeps the digits of a small x that 1 - x loses.
    return np.log(inside) - np.log1p(-inside)


def _logit_vjp(g: Tensor, x: Tensor, eps: float | None) -> Tensor:
    """Zero where `x` was clamped, NaN where there is no logarithm."""
    slope = g / (x * (1 - x))
    if eps is None:
        return slope.masked_fill((x < 0) | (x > 1), math.nan)
    return slope.masked_fill((x < eps) | (x > 1 - eps), 0)


_logit = elementwise("logit", _log_of_odds, Product(_logit_vjp), arguments=("x",), dtypes=REAL)


@op(in_place=True)
@takes(ORDERED, "logit_cpu")
def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """The logarithm of the odds ``x / (1 - x)``, with `x` clamped to [eps, 1 - eps] if given."""
    return _logit(x if x.is_floating_point() else x.to(_dtypes.get_default_dtype()), eps=eps)


# ---- sums in the logarithm -------------------------------------------------------------------


@ignore_fp_warnings
def _log_of_sum(x: Any, y: Any) -> Any:
    """Of complex numbers by the one with the larger real part, as its exponential rules."""
    if x.dtype.kind != "c":
        total = np.maximum(x, y) + np.log1p(np.exp(-np.abs(x - y)))
        # The difference of two equal infinities is NaN.
        return np.logaddexp(x, y) if np.isnan(total).any() else total
    larger, smaller = np.where(x.real > y.real, x, y), np.where(x.real > y.real, y, x)
    added = larger + np.log1p(np.exp(smaller - larger))
    # The difference of two equal infinities is NaN.
    return np.where(np.isinf(smaller.real), larger, added).astype(x.dtype)


logaddexp = op(
    binary(
        "logaddexp",
        refusing_integers("logaddexp_cpu", _log_of_sum),
        (lambda x, y: _share(x, y), lambda x, y: _share(y, x)),
        dtypes=SMOOTH,
    ),
    method=True,
)
logaddexp2 = op(
    binary(
        "logaddexp2",
        refusing_integers(
            "logaddexp2_cpu", refusing_complex("logaddexp2_cpu", ignore_fp_warnings(np.logaddexp2))
        ),
        (lambda x, y: _share(x, y, math.log(2)), lambda x, y: _share(y, x, math.log(2))),
        dtypes=REAL,
    ),
    method=True,
)


def _share(x: Any, y: Any, scale: float = 1.0) -> Tensor:
    """The part that `x` has in the sum of both exponentials; half for equal infinities."""
    infinite = (x == y) & (x - y != 0)  # the difference of equal infinities is not a number
    return sigmoid(((x - y) * scale).masked_fill(infinite, 0))


# ---- sines and angles ------------------------------------------------------------------------


def _sinc_slope(x: Tensor) -> Tensor:
    angle = x * math.pi
    square = x * angle
    slope = (angle * cos(angle) - sin(angle)) / square
    # The quotient is 0 / 0 there.
    return slope.masked_fill(square == 0, 0)


sinc = op(
    unary("sinc", ignore_fp_warnings(lambda x: np.sinc(x).astype(x.dtype)), _sinc_slope),
    in_place=True,
)


@op(in_place=True, node="Deg2RadBackward0")
@takes(ORDERED, "deg2rad")
def deg2rad(x: Tensor) -> Tensor:
    """Degrees in radians."""
    return _degrees(x)


@op(in_place=True, node="Rad2DegBackward0")
@takes(ORDERED, "rad2deg")
def rad2deg(x: Tensor) -> Tensor:
    """Radians in degrees."""
    return _radians(x)


_degrees = unary("deg2rad", lambda x: x * (math.pi / 180), math.pi / 180, dtypes=ORDERED)
_radians = unary("rad2deg", lambda x: x * (180 / math.pi), 180 / math.pi, dtypes=ORDERED)


# ---- powers of two, and in double precision --------------------------------------------------


_scaled = binary(
    "ldexp",
    lambda x, y: x * np.exp2(y),
    (Product(lambda g, y: g * exp2(y)), Product(lambda g, out: g * (out * math.log(2)))),
    of_integers="float",
    dtypes=SMOOTH,
    keeps=("out",),
)


@op(in_place=True)
def ldexp(x: Tensor, other: Tensor) -> Tensor:
    """``x * 2 ** other``.

    Raises:
        NotImplementedError: the exponents of floats are booleans.
    """
    if x.is_floating_point() and other.dtype is _dtypes.bool_:
        raise not_implemented("ldexp_cpu_exp", other._array.dtype)
    return _scaled(x, other)


@op(in_place=True)
def float_power(x: Any, exponent: Any) -> Tensor:
    """``x ** exponent`` in double precision."""
    return pow(_doubled(x), _doubled(exponent))


def _doubled(x: Any) -> Any:
    """The power in double precision, also of a number and a tensor."""
    if not isinstance(x, Tensor):
        return x
    return x.to(_dtypes.complex128 if x.is_complex() else _dtypes.float64)
