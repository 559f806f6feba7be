"""Hurwitz' zeta function.

Its first terms are summed and the rest is the formula of Euler and Maclaurin (DLMF 25.11.5 and
2.10.1). For negative bounds it is the sum of the terms on both sides of zero.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from gradtool.engine._ops.elementwise.formulas.pieces import (
    Array,
    bernoulli_numbers,
    by_region,
    in_double,
)

_SUMMED: Final = 12
_CORRECTIONS: Final = 12


def _positive(s: Array, q: Array) -> Array:
    """The function for ``s > 1`` and ``q > 0``."""
    total = np.zeros_like(q)
    for k in range(_SUMMED):
        total += (q + k) ** -s
    start = q + _SUMMED
    first = start ** (1 - s)
    rest = np.zeros_like(q)
    matters = (first > 0) & np.isfinite(s)
    rest[matters] = first[matters] * _remainder(s[matters], start[matters])
    return total + rest


def _remainder(s: Array, start: Array) -> Array:
    """The terms from `start` on, divided by ``start ** (1 - s)``."""
    total = 1 / (s - 1) + 0.5 / start
    factor = s / start / start / 2
    for j, bernoulli in enumerate(bernoulli_numbers(_CORRECTIONS), 1):
        total = total + float(bernoulli) * factor
        factor = factor * ((s + 2 * j - 1) / start) * ((s + 2 * j) / start)
        factor = factor / ((2 * j + 1) * (2 * j + 2))
    return total


def _negative(s: Array, q: Array) -> Array:
    """The function for ``q < 0`` and a whole `s`, whose powers of negative numbers are real.

    The terms below zero are those of a bound above zero, up to another, with the sign of the power.
    """
    above, below = q - np.floor(q), np.ceil(q) - q
    sign = np.where(s % 2 == 0, 1.0, -1.0)
    both = _positive(s, above) + sign * _positive(s, below)
    return np.asarray(both - sign * _positive(s, 1 - q))


@in_double
def zeta(s: Array, q: Array) -> Array:
    """The sum of ``(k + q) ** -s`` over all whole numbers `k` from zero."""
    whole = q == np.floor(q)
    converges = s > 1
    return by_region(
        (s, q),
        (s == 1, math.inf),
        (converges & (q > 0), _positive),
        (converges & (q <= 0) & whole, math.inf),
        (converges & (q < 0) & ~whole & (s == np.floor(s)) & np.isfinite(s), _negative),
        (converges & np.isposinf(q), 0.0),
    )
