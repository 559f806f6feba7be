"""The logarithm of the gamma function and its derivatives.

The first derivative is its asymptotic series (DLMF 5.11.2) after so many steps up (5.5.2), its
Taylor series about its positive zero, and below zero its reflection (5.5.4). The others are
Hurwitz' zeta function (25.11.12).
"""

from __future__ import annotations

import functools
import math
from typing import Final

import numpy as np

from gradtool.engine._ops.elementwise.formulas.pieces import (
    Array,
    bernoulli_numbers,
    by_region,
    each_by,
    in_double,
    polynomial,
)
from gradtool.engine._ops.elementwise.formulas.zeta import zeta

_STEPS: Final = 10
_ZERO: Final = 1.4616321449683622
_ZERO_REST: Final = 9.549995429965698e-17
"""The zero, and what double precision lacks of it."""


def _log_gamma(x: float) -> float:
    """The standard library's, infinite at the poles and where it overflows."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


gammaln = each_by(_log_gamma)


def _positive(x: Array) -> Array:
    steps = np.where(x < _STEPS, _STEPS, 0)
    passed = np.zeros_like(x)
    for k in range(_STEPS):
        passed += np.where(steps > 0, 1 / (x + k), 0)
    far = x + steps
    series = [-float(each) / (2 * k) for k, each in enumerate(bernoulli_numbers(12), 1)]
    square = 1 / far / far
    return np.log(far) - 0.5 / far + square * polynomial(series, square) - passed


@functools.cache
def _about_zero() -> list[float]:
    orders = np.arange(2, 28)
    return [float(each) for each in (-1.0) ** orders * zeta(orders, _ZERO)]


def _near_zero(x: Array) -> Array:
    step = x - _ZERO - _ZERO_REST
    return step * polynomial(_about_zero(), step)


def _reflected(x: Array) -> Array:
    return _positive(1 - x) - math.pi / np.tan(math.pi * (x - np.round(x)))


@in_double
def digamma(x: Array) -> Array:
    """The derivative of the logarithm of the gamma function."""
    near = np.abs(x - _ZERO) < 0.25
    return by_region(
        (x,),
        (near, _near_zero),
        ((x > 0) & ~near, _positive),
        ((x < 0) & (x != np.floor(x)), _reflected),
        (x == 0, lambda x: np.copysign(math.inf, -x)),
    )


@in_double
def polygamma(n: Array, x: Array) -> Array:
    """The derivative of `digamma` of an order of at least one."""
    factorial = np.exp(gammaln(n + 1)) if np.any(n > 170) else each_by(math.gamma)(n + 1)
    sign = np.where(n % 2 == 0, -1.0, 1.0)
    return np.asarray(sign * factorial * zeta(n + 1, x))
