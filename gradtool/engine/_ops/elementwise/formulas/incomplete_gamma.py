"""Shares of the gamma function below and above a bound.

Which formula is exact where follows Gil, Segura and Temme ("Efficient and accurate algorithms for
the computation and inversion of the incomplete gamma function ratios", SIAM Journal on Scientific
Computing 34, 2012): a power series (DLMF 8.11.4), for a small share above a bound another (8.7.3),
a continued fraction (8.9.2), and for large shapes near the bound the expansion of Temme (8.12).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from gradtool.engine._ops.elementwise.formulas.error_functions import erfcx
from gradtool.engine._ops.elementwise.formulas.pieces import (
    EULER,
    Array,
    bernoulli_numbers,
    by_region,
    each_by,
    in_double,
    polynomial,
)
from gradtool.engine._ops.elementwise.formulas.temme import temme_coefficients
from gradtool.engine._ops.elementwise.formulas.zeta import zeta

_LARGE: Final = 20.0
"""Shapes from which Temme's expansion is exact to the last place."""

_CLOSE: Final = 0.3
"""Distance between bound and shape, over the shape, up to which Temme's expansion is used."""

_EXACT: Final = 1e-17
_MOST: Final = 2000
"""Terms after which a series is taken as it is."""

# ---- what all formulas are multiplied by -----------------------------------------------------


def _excess(a: Array, x: Array) -> Array:
    """``m - log(1 + m)``, where ``a * (1 + m)`` is `x`."""
    series = [0.0, 0.0, *((-1) ** k / k for k in range(2, 55))]
    m = (x - a) / a
    near = np.abs(m) < 0.5
    return by_region(
        (m, x / a),
        (near, lambda m, _: polynomial(series, m)),
        (~near, lambda m, ratio: m - np.log(ratio)),
    )


def _density_small(a: Array, x: Array) -> Array:
    x = np.minimum(x, 3000)  # where it is nothing, and its factors do not overflow yet
    half = x ** (a / 2) * np.exp(-x / 2)
    return np.asarray(half * half / each_by(math.gamma)(a + 1))


def _density_large(a: Array, x: Array) -> Array:
    stirling = [
        float(each) / (2 * k * (2 * k - 1)) for k, each in enumerate(bernoulli_numbers(10), 1)
    ]
    correction = polynomial(stirling, 1 / a / a) / a
    return np.exp(-a * _excess(a, x) - correction) / (math.sqrt(2 * math.pi) * np.sqrt(a))


def _density(a: Array, x: Array) -> Array:
    """``x ** a * exp(-x) / gamma(a + 1)``."""
    large = a >= 100
    return by_region((a, x), (large, _density_large), (~large, _density_small))


# ---- formulas --------------------------------------------------------------------------------


def _power_series(a: Array, x: Array) -> Array:
    """The share below `x`."""
    term = total = np.ones_like(x)
    for n in range(1, _MOST):
        term = term * (x / (a + n))
        total = total + term
        if np.all(term <= total * _EXACT):
            break
    return np.minimum(total * _density(a, x), 1)


def _log_gamma_of_next(a: Array) -> Array:
    """``lgamma(1 + a)``, exact for a small `a` as well (DLMF 5.7.3)."""
    orders = np.arange(2, 52)
    zetas = [float(each) for each in (-1.0) ** orders * zeta(orders, 1.0) / orders]
    near = a <= 0.5
    return by_region(
        (a,),
        (near, lambda a: a * polynomial([-EULER, *zetas], a)),
        (~near, lambda a: each_by(math.lgamma)(1 + a)),
    )


def _power_series_above(a: Array, x: Array) -> Array:
    """The share above `x`, for both at most about one."""
    term = np.ones_like(x)
    total = np.zeros_like(x)
    for n in range(1, 30):
        term = term * (-x / n)
        total += term / (a + n)
    grown = np.expm1(a * np.log(x) - _log_gamma_of_next(a))
    return np.asarray(-grown - (grown + 1) * a * total)


def _continued_fraction(a: Array, x: Array) -> Array:
    """The share above `x`, by the modified method of Lentz."""
    b = x + 1 - a
    d = 1 / b
    c = np.full_like(x, 1e300)
    product = d
    for n in range(1, _MOST):
        numerator = n * (a - n)
        b = b + 2
        d = 1 / (numerator * d + b)
        c = b + numerator / c
        factor = c * d
        product = product * factor
        if np.all(np.abs(factor - 1) <= 2.0**-52):
            break
    return np.asarray(product * a * _density(a, x))


def _near_tail(a: Array, x: Array) -> Array:
    """The lesser share of a large shape: the one below `x` if `x` is less, else the one above."""
    half = _excess(a, x)
    side = np.where(x < a, -1.0, 1.0)
    root = np.sqrt(2 * half)
    total = np.zeros_like(x)
    for row in reversed(temme_coefficients()):
        total = total / a + polynomial(row, side * root)
    correction = side * total / (math.sqrt(2 * math.pi) * np.sqrt(a))
    return np.asarray(np.exp(-a * half) * (erfcx(root * np.sqrt(a / 2)) / 2 + correction))


# ---- which formula where ---------------------------------------------------------------------


def _share(a: Array, x: Array, *, above: bool) -> Array:
    proper = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    close = proper & (a >= _LARGE) & (np.abs(x - a) < _CLOSE * a)
    beyond = proper & ~close & (x > 1.1) & (x >= a)
    # A share above the bound that is near one is exact as the rest of the one below it.
    is_small = np.where(x <= 0.5, a * -np.log(x) <= 0.4, a <= 1.1 * x)
    small = proper & ~close & ~beyond & above & (x <= 1.1) & is_small
    rest = proper & ~close & ~beyond & ~small

    def of(below_is_found: bool, found: Array) -> Array:
        return found if below_is_found is not above else 1 - found

    return by_region(
        (a, x),
        (close & (x < a), lambda a, x: of(True, _near_tail(a, x))),
        (close & (x >= a), lambda a, x: of(False, _near_tail(a, x))),
        (beyond, lambda a, x: of(False, _continued_fraction(a, x))),
        (small, _power_series_above),
        (rest, lambda a, x: of(True, _power_series(a, x))),
        (((a > 0) & (x == 0)) | (np.isposinf(a) & (x >= 0) & np.isfinite(x)), float(above)),
        (((a == 0) & (x > 0)) | (np.isposinf(x) & (a >= 0) & np.isfinite(a)), float(not above)),
    )


@in_double
def gammainc(a: Array, x: Array) -> Array:
    """The share of ``gamma(a)`` below the bound `x`."""
    return _share(a, x, above=False)


@in_double
def gammaincc(a: Array, x: Array) -> Array:
    """The share of ``gamma(a)`` above the bound `x`."""
    return _share(a, x, above=True)
