"""Richardson extrapolation of difference quotients, with an error that can be believed.

The published estimates of such schemes are not bounds: one small step from rung to rung can
be an accident. Here a rung counts only with the two before it, slow convergence is charged
for the part of the series that is still to come, and the noise of the outputs is added with
the weight it really has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.thresholds.steps import (
    CENTRAL_NOISE_SPREAD,
    EXTRAPOLATION_LONGEST_TAIL,
    EXTRAPOLATION_SAFETY,
    EXTRAPOLATION_WITNESSES,
    ONE_SIDED_NOISE_SPREAD,
)


@dataclass(frozen=True)
class Limit:
    """A limit and its error for each row; NaN and infinity where there is none."""

    value: FloatArray
    error: FloatArray


@dataclass(frozen=True)
class Scheme:
    """How a sequence of quotients converges when the step is halved.

    `factors` are 2 to the powers of the error's terms, in the order in which they are
    eliminated; `spread` bounds what extrapolation makes of noise of size one in the outputs,
    in units of one over the smallest step.
    """

    factors: tuple[int, ...]
    spread: float


CENTRAL = Scheme((4, 16), CENTRAL_NOISE_SPREAD)
"""Even powers of the step only. The noise of two outputs over twice the step is its start."""

ONE_SIDED = Scheme((2, 4, 8), ONE_SIDED_NOISE_SPREAD)
"""All powers of the step; the noise of two outputs over one step is its start."""


def extrapolate(
    quotients: FloatArray, steps: FloatArray, noise: FloatArray, scheme: Scheme
) -> Limit:
    """The limit at step zero of `quotients`, one row for each of `steps`, from the best rung.

    `noise` bounds the noise of the outputs that each quotient was made of.
    """
    rungs = quotients
    for factor in scheme.factors:
        rungs = (factor * rungs[1:] - rungs[:-1]) / (factor - 1)
    order = len(scheme.factors)
    rounding = scheme.spread * noise[: len(rungs)] / steps[order:, None]
    values = rungs[EXTRAPOLATION_WITNESSES:]
    errors = _moving(rungs) + rounding[EXTRAPOLATION_WITNESSES:]
    errors[_contradicted(values, errors)] = np.inf
    best = np.argmin(errors, axis=0)[None]
    value = np.take_along_axis(values, best, axis=0)[0]
    error = np.take_along_axis(errors, best, axis=0)[0]
    return Limit(np.where(np.isfinite(error), value, np.nan), error)


def _moving(rungs: FloatArray) -> FloatArray:
    """The error of each rung that has its witnesses, from how much it moved; infinite if unknown.

    Where each change is the same part of the one before, those still to come add up to a
    geometric series, which is its tail.
    """
    changes = np.abs(np.diff(rungs, axis=0))
    last, before = changes[1:], changes[:-1]
    ratio = last / before
    tail = np.where(ratio < 1, ratio / (1 - ratio), 1.0).clip(1.0, EXTRAPOLATION_LONGEST_TAIL)
    return np.asarray(
        np.nan_to_num(EXTRAPOLATION_SAFETY * np.fmax(last * tail, before), nan=np.inf)
    )


def _contradicted(values: FloatArray, errors: FloatArray) -> BoolArray:
    """Whether a rung's interval misses that of some finer rung.

    Then the coarse rungs had settled on an alias, or on the slope of a neighbourhood.
    """
    low, high = (
        np.nan_to_num(values - errors, nan=-np.inf),
        np.nan_to_num(values + errors, nan=np.inf),
    )
    finer_low = np.maximum.accumulate(low[::-1], axis=0)[::-1]
    finer_high = np.minimum.accumulate(high[::-1], axis=0)[::-1]
    return (high < finer_low) | (low > finer_high)
