"""Logarithms and powers of pairs, angles, and products with a logarithm or a sine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.claims import ORDERED
from gradtool.engine._ops.core.kinds import Operation, Product, binary, unary
from gradtool.engine._ops.core.quiet import quiet
from gradtool.engine._ops.core.unsupported import refusing_complex, refusing_integers, takes
from gradtool.engine._ops.elementwise.arithmetic import mul
from gradtool.engine._ops.elementwise.elementwise import cos, exp2, log, log1p, sigmoid, sin
from gradtool.engine._ops.elementwise.power import pow
from gradtool.engine._ops.elementwise.selection import clamp
from gradtool.engine._tensor import Tensor

# ---- zero times a logarithm is zero ---------------------------------------------------------


def _times(logarithm: Any) -> Any:
    return lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * logarithm(y)).astype(x.dtype)


xlogy: Operation = binary(
    "xlogy",
    refusing_complex("xlogy_cpu", quiet(_times(np.log))),
    (
        Product(lambda g, x, y: xlogy(g, y).masked_fill((x == 0) & (y <= 0), 0)),
        Product(lambda g, x, y: g * x / y),
    ),
    of_integers="float",
)
xlog1py: Operation = binary(
    "special_xlog1py",
    refusing_complex("xlog1py_cpu", quiet(_times(np.log1p))),
    (
        Product(lambda g, x, y: xlog1py(g, y).masked_fill((x == 0) & (y <= -1), 0)),
        Product(lambda g, x, y: g * x / (y + 1)),
    ),
    of_integers="float",
)


@quiet
def _entropy(x: Any) -> Any:
    return np.where(x > 0, -x * np.log(x), np.where(x == 0, 0, np.where(x < 0, -np.inf, x)))


entr = unary(
    "special_entr",
    refusing_complex("entr", lambda x: _entropy(x).astype(x.dtype)),
    lambda x: -1 - log(x),
)


@takes(ORDERED, "logit_cpu")
def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """The logarithm of the odds ``x / (1 - x)``, with `x` clamped to [eps, 1 - eps] if given."""
    x = x * 1.0 if x.dtype is _dtypes.bool_ else x
    inside = x if eps is None else clamp(x, eps, 1 - eps)
    return log(inside) - log1p(-inside)


# ---- sums in the logarithm ------------------------------------------------------------------


@quiet
def _log_of_sum(x: Any, y: Any) -> Any:
    """Of complex numbers by the one with the larger real part, as its exponential rules."""
    if x.dtype.kind != "c":
        return np.logaddexp(x, y)
    larger, smaller = np.where(x.real > y.real, x, y), np.where(x.real > y.real, y, x)
    added = larger + np.log1p(np.exp(smaller - larger))
    return np.where(np.isinf(smaller.real), larger, added).astype(x.dtype)


logaddexp = binary(
    "logaddexp",
    refusing_integers("logaddexp_cpu", _log_of_sum),
    (lambda x, y: _share(x, y), lambda x, y: _share(y, x)),
)
logaddexp2 = binary(
    "logaddexp2",
    refusing_integers("logaddexp2_cpu", refusing_complex("logaddexp2_cpu", quiet(np.logaddexp2))),
    (lambda x, y: _share(x, y, math.log(2)), lambda x, y: _share(y, x, math.log(2))),
)


def _share(x: Any, y: Any, scale: float = 1.0) -> Tensor:
    """The part that `x` has in the sum of both exponentials; half for equal infinities."""
    infinite = (x == y) & (x - y != 0)  # the difference of equal infinities is not a number
    return sigmoid(((x - y) * scale).masked_fill(infinite, 0))


# ---- sines and angles -----------------------------------------------------------------------


def _sinc_slope(x: Tensor) -> Tensor:
    angle = x * math.pi
    slope = (angle * cos(angle) - sin(angle)) / (x * angle)
    return slope.masked_fill(x == 0, 0)


sinc = unary("sinc", quiet(lambda x: np.sinc(x).astype(x.dtype)), _sinc_slope)


@takes(ORDERED, "deg2rad")
def deg2rad(x: Tensor) -> Tensor:
    """Degrees in radians."""
    return x * (math.pi / 180)


@takes(ORDERED, "rad2deg")
def rad2deg(x: Tensor) -> Tensor:
    """Radians in degrees."""
    return x * (180 / math.pi)


# ---- powers ---------------------------------------------------------------------------------


def ldexp(x: Tensor, other: Tensor) -> Tensor:
    """``x * 2 ** other``."""
    if x.is_floating_point() and not other.dtype.is_differentiable:
        other = other.to(x.dtype)
    return mul(x, exp2(other))


def float_power(x: Any, exponent: Any) -> Tensor:
    """``x ** exponent`` in double precision."""
    return pow(_doubled(x), _doubled(exponent))


def _doubled(x: Any) -> Any:
    """In double precision. A number takes on that of the tensor beside it."""
    if not isinstance(x, Tensor):
        return x
    return x.to(_dtypes.complex128 if x.is_complex() else _dtypes.float64)


__all__ = [
    "deg2rad", "float_power", "ldexp", "logaddexp", "logaddexp2", "logit", "rad2deg", "sinc",
    "xlogy",
]  # fmt: skip
