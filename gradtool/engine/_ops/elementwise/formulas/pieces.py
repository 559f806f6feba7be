"""Parts that the formulas share: regions of the arguments, polynomials, numbers of series."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Formula = Callable[..., Any]

EULER = 0.57721566490153286061
"""Euler's constant."""


def in_double(function: Formula) -> Formula:
    """`function`, with its arguments brought to arrays of one shape in double precision."""

    @functools.wraps(function)
    def compute(*arguments: Any) -> Array:
        arrays = [np.asarray(each, dtype=np.float64) for each in arguments]
        return np.asarray(function(*np.broadcast_arrays(*arrays)))

    return compute


def by_region(arguments: Sequence[Array], *regions: tuple[Any, Formula | float]) -> Array:
    """Compute each region, a mask, by its own formula or number; NaN in none of them."""
    out = np.full(np.shape(arguments[0]), np.nan)
    for mask, formula in regions:
        if callable(formula):
            if np.any(mask):
                out[mask] = formula(*(each[mask] for each in arguments))
        else:
            out[mask] = formula
    return out


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """The polynomial with these coefficients, the constant first, by Horner's rule."""
    total = np.full(np.shape(x), coefficients[-1])
    for each in coefficients[-2::-1]:
        total = total * x + each
    return total


def each_by(function: Callable[[float], float]) -> Formula:
    """A function of one number, applied to each element of an array."""
    apply = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(apply(x), dtype=np.float64)


def hankel_terms(order: float, count: int) -> list[float]:
    """The numbers ``a_k`` of the asymptotic series of all Bessel functions (DLMF 10.17.1)."""
    terms = [1.0]
    for k in range(1, count):
        terms.append(terms[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    return terms


@functools.cache
def bernoulli_numbers(count: int) -> tuple[Fraction, ...]:
    """The first Bernoulli numbers of even index, from that of index 2 (DLMF 24.5.3)."""
    numbers = [Fraction(1)]
    for n in range(1, 2 * count + 1):
        total = sum((math.comb(n + 1, k) * numbers[k] for k in range(n)), Fraction(0))
        numbers.append(-total / (n + 1))
    return tuple(numbers[2::2])
