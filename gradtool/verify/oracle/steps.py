"""The scale of each coordinate, and the powers of two that steps are made of.

A step is a power of two so that adding it to a coordinate loses as few bits as possible, and it is
relative to the coordinate's own scale so that inputs of 1e-8 and of 1e9 are treated alike.
References: FiniteDifferences.jl for balancing truncation
against rounding, which puts a central difference
near ``eps ** (1/3)``; MXNet for steps that are powers of two.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from gradtool.verify.protocol.coordinates import FloatArray, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.thresholds.effort import PART_COORDINATES


@functools.cache
def epsilon(dtype: np.dtype[Any]) -> float:
    """The spacing of floating-point numbers at 1 in `dtype`, real or complex."""
    return float(np.finfo(dtype).eps)


def scales(primal: Array) -> FloatArray:
    """The scale of each coordinate of `primal`: its size, or the array's where that is larger.

    An entry near zero takes the scale of the entries around it: zero itself says nothing
    about how far the function can be followed. An array of zeros has scale one.
    """
    coordinates = real_view(np.ascontiguousarray(primal))
    return scales_given_typical(coordinates, typical_scale(coordinates))


def typical_scale(coordinates: Array) -> float:
    """The root of the mean square of those that are finite; one where all are zero."""
    largest, total, count = 0.0, 0.0, 0
    for start in range(0, len(coordinates), PART_COORDINATES):
        size = np.abs(coordinates[start : start + PART_COORDINATES].astype(np.float64))
        finite = size[np.isfinite(size)]
        most = float(finite.max(initial=0.0))
        if most > largest:
            # Scaled by the largest so far, as BLAS's nrm2 is: squares of 1e200 would overflow.
            total, largest = total * (largest / most) ** 2, most
        total += float(np.sum((finite / largest) ** 2)) if largest else 0.0
        count += finite.size
    return float(largest * np.sqrt(total / count)) if largest else 1.0


def scales_given_typical(coordinates: Array, typical: float) -> FloatArray:
    """The scale of each of some coordinates of an array whose typical scale is known."""
    size = np.abs(coordinates.astype(np.float64))
    return np.where(np.isfinite(size), np.maximum(size, typical), 1.0)


def power_of_two(length: float) -> float:
    """The power of two next below `length`."""
    return math.ldexp(0.5, math.frexp(length)[1]) if 0 < length < math.inf else length


def cheap_step(scale: float, eps: float) -> float:
    """A step that balances the two errors of one central difference, for a smooth function."""
    return power_of_two(scale * 2 * eps ** (1 / 3))
