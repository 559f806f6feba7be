"""Modified Bessel functions of orders zero and one.

Those of the first kind are their power series (DLMF 10.25.2), whose terms all have one sign, and
beyond `_FAR` their asymptotic series (10.40.1). Those of the second kind are a power series with a
logarithm near zero (10.31.1), in between the integral of ``exp(-x cosh t) cosh(n t)`` (10.32.9) by
the trapezoidal rule, which converges exponentially (Trefethen and Weideman, SIAM Review 56, 2014),
and beyond `_FAR` their asymptotic series (10.40.2).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from gradtool.engine._ops.elementwise.formulas.pieces import (
    EULER,
    Array,
    Formula,
    by_region,
    hankel_terms,
    in_double,
    polynomial,
)

_FAR: Final = 25.0
"""From here on, the asymptotic series are exact to the last place."""

# ---- of the first kind -----------------------------------------------------------------------


def _power_terms(order: int, count: int) -> list[float]:
    """The coefficients of ``I_n(x) / (x / 2) ** n`` as a polynomial in ``x * x / 4``."""
    return [1 / (math.factorial(k) * math.factorial(k + order)) for k in range(count)]


_POWERS: Final = [_power_terms(order, 45) for order in (0, 1)]
_FAR_FIRST: Final = [
    [(-1) ** k * term for k, term in enumerate(hankel_terms(order, 26))] for order in (0, 1)
]


def _series(order: int, x: Array) -> Array:
    return polynomial(_POWERS[order], x * x / 4) * (x / 2) ** order


def _scaled_first(order: int) -> Formula:
    """``exp(-abs(x)) * I_n(x)``, which is even or odd as the order is."""

    def far(x: Array) -> Array:
        return polynomial(_FAR_FIRST[order], 1 / x) / (math.sqrt(2 * math.pi) * np.sqrt(x))

    def compute(x: Array) -> Array:
        size = np.abs(x)
        found = by_region(
            (size,),
            (size < _FAR, lambda x: _series(order, x) * np.exp(-x)),
            (size >= _FAR, far),
        )
        return np.copysign(found, x) if order else found

    return in_double(compute)


i0e, i1e = _scaled_first(0), _scaled_first(1)


def _first(order: int) -> Formula:
    scaled = (i0e, i1e)[order]

    def far(x: Array) -> Array:
        root = np.exp(np.abs(x) / 2)  # twice, because its square may overflow where i0 does not
        far: Array = root * (root * scaled(x))
        return far

    def compute(x: Array) -> Array:
        is_near = np.abs(x) < _FAR
        return by_region((x,), (is_near, lambda x: _series(order, x)), (~is_near, far))

    return in_double(compute)


i0, i1 = _first(0), _first(1)

# ---- of the second kind ----------------------------------------------------------------------


_STEP: Final = 1 / 10
_NODES: Final = 52
"""So many steps reach to where the integrand is nothing, for arguments of a half and above."""


def by_trapezoids(order: float, x: Array) -> Array:
    """``exp(x) * K_n(x)`` for `x` from a half to `_FAR`."""
    total = np.full(x.shape, 0.5)
    for node in range(1, _NODES):
        t = node * _STEP
        total += math.cosh(order * t) * np.exp(-2 * math.sinh(t / 2) ** 2 * x)
    return total * _STEP


def scaled_second_far(order: float, x: Array) -> Array:
    """``exp(x) * K_n(x)`` for `x` of at least `_FAR`."""
    return polynomial(hankel_terms(order, 26), 1 / x) * (math.sqrt(math.pi / 2) / np.sqrt(x))


_COUNT: Final = 16
_HARMONIC: Final = [sum(1 / j for j in range(1, k + 1)) for k in range(_COUNT + 1)]
_LOGARITHMIC: Final = [
    [2 * each * _HARMONIC[k] for k, each in enumerate(_POWERS[0][:_COUNT])],
    [each * (_HARMONIC[k] + _HARMONIC[k + 1]) for k, each in enumerate(_POWERS[1][:_COUNT])],
]


def _near_zero(order: int, x: Array) -> Array:
    """``K_n(x)`` for `x` of at most one."""
    smooth = polynomial(_LOGARITHMIC[order], x * x / 4) * (x / 2) ** order / 2
    logarithmic = (np.log(x / 2) + EULER) * _series(order, x)
    return smooth - logarithmic if order == 0 else 1 / x + logarithmic - smooth


def _second(order: int, *, is_scaled: bool) -> Formula:
    def between(x: Array) -> Array:
        return by_trapezoids(order, x) * (1 if is_scaled else np.exp(-x))

    def far(x: Array) -> Array:
        scaled = scaled_second_far(order, x)
        if is_scaled:
            return scaled
        root = np.exp(-x / 2)  # twice, because its square may be too small where k0 is not
        return root * (root * scaled)

    def near(x: Array) -> Array:
        return _near_zero(order, x) * (np.exp(x) if is_scaled else 1)

    def compute(x: Array) -> Array:
        return by_region(
            (x,),
            (x == 0, math.inf),
            ((x > 0) & (x <= 1), near),
            ((x > 1) & (x < _FAR), between),
            (x >= _FAR, far),
        )

    return in_double(compute)


k0, k1 = _second(0, is_scaled=False), _second(1, is_scaled=False)
k0e, k1e = _second(0, is_scaled=True), _second(1, is_scaled=True)
