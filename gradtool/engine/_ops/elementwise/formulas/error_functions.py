"""Error functions, and the logarithm and the inverse of the normal distribution.

The scaled complement is a trapezoidal rule whose terms are all positive (Chiarella and Reichl,
Mathematics of Computation 22, 1968). The inverses are Newton's method, from the approximation
of Winitzki ("A handy approximation for the error function and its inverse", 2008).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from gradtool.engine._ops.elementwise.formulas.pieces import (
    Array,
    by_region,
    each_by,
    in_double,
    polynomial,
)

_ROOT_TWO: Final = math.sqrt(2)
_SLOPE: Final = 2 / math.sqrt(math.pi)

erf, erfc = each_by(math.erf), each_by(math.erfc)

# ---- scaled complement -----------------------------------------------------------------------


_STEP: Final = 0.5
_NODES: Final = 14
"""So many steps reach to where ``exp(-t * t)`` is nothing."""


def _exp_of_square(factor: float, x: Array) -> Array:
    """``exp(factor * x * x)``, without the rounding of the square."""
    coarse = np.round(x * 16) / 16
    rest = (x - coarse) * (x + coarse)
    return np.asarray(np.exp(factor * (coarse * coarse)) * np.exp(factor * rest))


def _scaled_positive(x: Array) -> Array:
    total = np.zeros_like(x)
    for node in range(_NODES):
        square = ((node + 0.5) * _STEP) ** 2
        total += math.exp(-square) / (x + square / x)
    pole = x < math.pi / _STEP  # beyond, the rule needs no correction
    correction = np.zeros_like(x)
    near = x[pole]
    correction[pole] = 2 * _exp_of_square(1, near) / (1 + np.exp(2 * math.pi / _STEP * near))
    return total * (2 * _STEP / math.pi) + correction


@in_double
def erfcx(x: Array) -> Array:
    """``exp(x * x) * erfc(x)``."""
    return by_region(
        (x,),
        (x >= 0, _scaled_positive),
        (x < 0, lambda x: 2 * _exp_of_square(1, x) - _scaled_positive(-x)),
        (x < -30, math.inf),
    )


def _above(x: Array) -> Array:
    """The part of a standard normal distribution above `x`."""
    return _exp_of_square(-0.5, x) * _scaled_positive(x / _ROOT_TWO) / 2


@in_double
def log_ndtr(x: Array) -> Array:
    """The logarithm of the part of a standard normal distribution below `x`."""
    return by_region(
        (x,),
        (x < -1, lambda x: np.log(_scaled_positive(x / -_ROOT_TWO) / 2) - x * x / 2),
        (np.abs(x) <= 1, lambda x: np.log1p(-erfc(x / _ROOT_TWO) / 2)),
        ((x > 1) & (x < 40), lambda x: np.log1p(-_above(x))),
        (x >= 40, -0.0),
    )


# ---- inverses --------------------------------------------------------------------------------


_CENTRE: Final = (1.0, math.pi / 12, 7 * math.pi**2 / 480, 127 * math.pi**3 / 40320)
"""First coefficients of the inverse as a power series (DLMF 7.17.2)."""


def _centre(y: Array) -> Array:
    """The inverse error function for an absolute value of at most a half."""
    square = y * y
    x = y / _SLOPE * polynomial(_CENTRE, square)
    for _ in range(2):
        short = (y - erf(x)) * np.exp(x * x) / _SLOPE
        x = x + short / (1 - x * short)  # Halley's method
    return x


def _tail(p: Array) -> Array:
    """The value whose complementary error function is `p`, above zero and at most a half."""
    bend, middle = np.log(p) + np.log(2 - p), 2 / (math.pi * 0.147)
    half = middle + bend / 2
    x = np.sqrt(np.sqrt(half * half - bend / 0.147) - half)
    for _ in range(4):
        scaled = _scaled_positive(x)
        x = x + (np.log(scaled) - x * x - np.log(p)) * scaled / _SLOPE
    return x


@in_double
def erfinv(y: Array) -> Array:
    """The inverse of the error function."""
    size = np.abs(y)
    found = by_region(
        (size,),
        (size <= 0.5, _centre),
        ((size > 0.5) & (size < 1), lambda size: _tail(1 - size)),
        (size == 1, math.inf),
    )
    return np.copysign(found, y)


@in_double
def ndtri(p: Array) -> Array:
    """The value below which is the part `p` of a standard normal distribution."""
    return by_region(
        (p,),
        (p == 0, -math.inf),
        ((p > 0) & (p < 0.25), lambda p: -_ROOT_TWO * _tail(2 * p)),
        ((p >= 0.25) & (p <= 0.75), lambda p: _ROOT_TWO * _centre(2 * (p - 0.5))),
        ((p > 0.75) & (p < 1), lambda p: _ROOT_TWO * _tail(2 * (1 - p))),
        (p == 1, math.inf),
    )
