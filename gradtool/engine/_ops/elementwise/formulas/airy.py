"""Airy's function.

For positive arguments it is a modified Bessel function of order 1/3 (DLMF 9.6.2), and for negative
ones far out its asymptotic series (9.7.9). Around zero it is a Taylor series about the nearest
whole number, by the recurrence of its differential equation, ``Ai'' = x Ai``.
"""

from __future__ import annotations

import functools
import math
from typing import Final

import numpy as np

from gradtool.engine._ops.elementwise.formulas.modified_bessel import (
    by_trapezoids,
    scaled_second_far,
)
from gradtool.engine._ops.elementwise.formulas.pieces import (
    Array,
    by_region,
    hankel_terms,
    in_double,
    polynomial,
)

_LOWEST: Final = 11
"""Taylor series are about the whole numbers from minus this to zero."""

_FAR: Final = 11.25
"""From here on, the argument of the Bessel function is at least 25."""

_TERMS: Final = 30


def _taylor(about: Array, value: Array, slope: Array, step: Array) -> tuple[Array, Array]:
    """The function and its derivative a step of at most one away."""
    terms = [value, slope, about * value / 2]
    for k in range(1, _TERMS):
        terms.append((about * terms[k] + terms[k - 1]) / ((k + 1) * (k + 2)))
    value, slope = np.zeros_like(step), np.zeros_like(step)
    for k in range(len(terms) - 1, 0, -1):
        value = value * step + terms[k]
        slope = slope * step + k * terms[k]
    return value * step + terms[0], slope


@functools.cache
def _centres() -> tuple[Array, Array]:
    """The function and its derivative at 0, -1, -2, …, each from the one before.

    The function swings there, and so no error grows on the way.
    """
    at = np.asarray(0.0)
    found = [(at + 3 ** (-2 / 3) / math.gamma(2 / 3), at - 3 ** (-1 / 3) / math.gamma(1 / 3))]
    for centre in range(_LOWEST):
        for half in (0.0, 0.5):
            found.append(_taylor(at - centre - half, *found[-1], at - 0.5))
    return np.array([each[0] for each in found[::2]]), np.array([each[1] for each in found[::2]])


def _around(x: Array) -> Array:
    nearest = np.clip(np.round(x), -_LOWEST, 0)
    position = (-nearest).astype(np.int64)
    values, slopes = _centres()
    return _taylor(nearest, values[position], slopes[position], x - nearest)[0]


def _falling(x: Array) -> Array:
    root = np.sqrt(x)
    argument = 2 / 3 * x * root
    near = argument < 25
    scaled = by_region(
        (argument,),
        (near, lambda each: by_trapezoids(1 / 3, each)),
        (~near, lambda each: scaled_second_far(1 / 3, each)),
    )
    return scaled * np.exp(-argument) * np.sqrt(x / 3) / math.pi


def _swinging(x: Array) -> Array:
    size = -x
    argument = 2 / 3 * size * np.sqrt(size)
    signed = [term * (-1) ** (k // 2) for k, term in enumerate(hankel_terms(1 / 3, 28))]
    square = 1 / argument / argument
    p, q = polynomial(signed[::2], square), polynomial(signed[1::2], square) / argument
    sine, cosine = np.sin(argument), np.cos(argument)
    wave = (cosine + sine) * p - (sine - cosine) * q
    return wave / (math.sqrt(2 * math.pi) * size**0.25)


@in_double
def _ai(x: Array) -> Array:
    return by_region(
        (x,),
        (np.abs(x + _FAR / 2 - 0.5) < _FAR / 2 + 0.5, _around),
        ((x >= 1) & np.isfinite(x), _falling),
        ((x <= -_FAR) & np.isfinite(x), _swinging),
    )


def airy(x: Array) -> tuple[Array]:
    """Airy's function of the first kind alone, the first of SciPy's four results."""
    return (_ai(x),)
