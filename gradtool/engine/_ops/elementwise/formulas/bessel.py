"""Bessel functions of orders zero and one.

Up to `_FAR` they are integrals of Bessel (DLMF 10.9.1) and Neumann (10.9.3), by the trapezoidal
rule over one period, which converges faster than exponentially. The logarithm in Neumann's is
replaced by as much of its Fourier series as the nodes resolve. Beyond, they are their asymptotic
series (10.17.3 and 10.17.4).
"""

from __future__ import annotations

import functools
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
_NODES: Final = 40
"""Nodes in a quarter of the period."""

_HARMONICS: Final = 36
"""Terms of the Fourier series: Bessel functions of higher order are nothing up to `_FAR`."""


@functools.cache
def _nodes() -> list[tuple[float, float, float]]:
    """For each node: its sine, its weight in the mean, and the Fourier series there."""
    nodes = []
    for j in range(_NODES):
        angle = (j + 0.5) * math.pi / (2 * _NODES)
        logarithm = sum((-1) ** k * math.cos(2 * k * angle) / k for k in range(1, _HARMONICS + 1))
        nodes.append((math.sin(angle), 1 / _NODES, logarithm))
    return nodes


def _mean(x: Array, order: int, *, with_logarithm: bool = False) -> Array:
    """The mean over the period of ``cos(x s)``, or of ``s sin(x s)``, for the sine ``s``."""
    total = np.zeros_like(x)
    for sine, weight, logarithm in _nodes():
        wave = np.sin(x * sine) * sine if order else np.cos(x * sine)
        total += wave * (weight * (logarithm if with_logarithm else 1))
    return total


def _second_near(x: Array, order: int) -> Array:
    turned = (np.log(x / 2) + EULER) * _mean(x, order) - 2 * _mean(x, order, with_logarithm=True)
    if order:
        turned = turned - _mean(x, 0) / x
    return turned * (2 / math.pi)


@functools.cache
def _far_terms(order: int) -> tuple[list[float], list[float]]:
    terms = hankel_terms(order, 28)
    signed = [term * (-1) ** (k // 2) for k, term in enumerate(terms)]
    return signed[::2], signed[1::2]


def _far(x: Array, order: int, *, is_second: bool) -> Array:
    """Either kind, by the sine and cosine of `x` itself, which stay exact for a large one."""
    even, odd = _far_terms(order)
    square = 1 / x / x
    p, q = polynomial(even, square), polynomial(odd, square) / x
    sine, cosine = np.sin(x), np.cos(x)
    # The cosine and sine of x - pi / 4, and of x - 3 pi / 4, times the root of 2.
    turned = (sine - cosine, -cosine - sine) if order else (cosine + sine, sine - cosine)
    wave = turned[1] * p + turned[0] * q if is_second else turned[0] * p - turned[1] * q
    return wave / (math.sqrt(math.pi) * np.sqrt(x))


def _first(order: int) -> Formula:
    def compute(x: Array) -> Array:
        size = np.abs(x)
        found = by_region(
            (size,),
            (size < _FAR, lambda x: _mean(x, order)),
            (size >= _FAR, lambda x: _far(x, order, is_second=False)),
        )
        return np.where(np.signbit(x), -found, found) if order else found

    return in_double(compute)


def _second(order: int) -> Formula:
    def compute(x: Array) -> Array:
        return by_region(
            (x,),
            (x == 0, -math.inf),
            ((x > 0) & (x < _FAR), lambda x: _second_near(x, order)),
            (x >= _FAR, lambda x: _far(x, order, is_second=True)),
        )

    return in_double(compute)


j0, j1 = _first(0), _first(1)
y0, y1 = _second(0), _second(1)
