"""Recognizes gradients that treat rounding as the identity.

A quantizer rounds, and the straight-through estimator differentiates it as if the rounding were
not there, by its input as by its scale and its bounds (Bengio et al., "Estimating or Propagating
Gradients Through Stochastic Neurons"; Esser et al., "Learned Step Size Quantization").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.protocol.observation import Evaluate
from gradtool.verify.thresholds.diagnosis import (
    STRAIGHT_THROUGH_MOST,
    STRAIGHT_THROUGH_RTOL,
    STRAIGHT_THROUGH_STEP,
)

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def is_straight_through(
    subject: Subject, at: Derivatives, comparison: Comparison, *, may_vanish: bool = False
) -> bool:
    """Return True for the derivative of forward with the identity in the place of rounding.

    The gradient of a scale may be a multiple of it, by which it keeps the pace of the weights. That
    of an offset is zero within the bounds, which is a sign only if it `may_vanish`.
    """
    primal = at.primals[comparison.argument]
    layout = comparison.layout
    is_whole = layout.functionals is None and layout.directions[comparison.argument] is None
    if primal.dtype != np.float64 or primal.size > STRAIGHT_THROUGH_MOST or not is_whole:
        return False
    if not (may_vanish or comparison.analytic.any()):
        return False
    try:
        forwards = subject.function.through_rounding(at.primals)
        return any(_is_derivative(forward, at, comparison) for forward in forwards)
    except Exception:  # The user's code may raise anything where its rounding is replaced.
        return False


def _is_derivative(forward: Evaluate, at: Derivatives, comparison: Comparison) -> bool:
    analytic, argument = comparison.analytic, comparison.argument
    size = analytic.shape[1]
    slopes = np.stack([_slopes(forward, at, argument, entry) for entry in range(size)], axis=1)
    factor = 1.0
    if size < len(analytic) and slopes.any() and analytic.any():
        factor = float(np.sum(analytic * slopes) / np.sum(slopes * slopes))
    largest = np.abs(analytic).max() or np.abs(comparison.numeric.value).max()
    atol = STRAIGHT_THROUGH_RTOL * float(largest)
    return factor > 0 and np.allclose(factor * slopes, analytic, atol=atol, rtol=0)


def _slopes(forward: Evaluate, at: Derivatives, argument: int, entry: int) -> FloatArray:
    """The derivative of each output by one entry of an argument, as a central difference."""
    sides = []
    for sign in (1.0, -1.0):
        primals = list(at.primals)
        moved = primals[argument] = np.array(primals[argument])
        moved.flat[entry] += sign * STRAIGHT_THROUGH_STEP
        sides.append(at.layout.outputs.flatten(forward(primals)))
    slopes: FloatArray = (sides[0] - sides[1]) / (2 * STRAIGHT_THROUGH_STEP)
    return slopes
