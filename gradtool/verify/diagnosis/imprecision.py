"""Gradients that are off by more than rounding explains, and by less than their tolerance.

The exact derivative of the recorded forward shows such differences. The rounding of both sides is
estimated from their change when the inputs change by a few last digits. A mistake in a formula is
the same at all these points; what rounding leaves is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from gradtool.verify.comparison.analytic import analytic_jacobian
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.oracle.estimate import Status
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, rounded_differently
from gradtool.verify.thresholds.comparison import DOUBLE_EPS
from gradtool.verify.thresholds.rules import (
    IMPRECISE_LOOKS,
    IMPRECISE_ROUNDINGS,
    IMPRECISE_SAFETY,
    IMPRECISE_UNSTEADY,
)


class Imprecision(msgspec.Struct, frozen=True):
    """The imprecise entries of the gradient of one argument."""

    comparison: Comparison
    chosen: BoolArray
    part: float
    """The largest difference, as a part of its entry."""


def imprecise_gradients(
    at: Derivatives, comparisons: tuple[Comparison, ...], seed: int
) -> Iterator[Imprecision]:
    """Find what differs from the exact derivative by more than rounding."""
    for comparison in comparisons:
        chosen = _suspects(at, comparison)
        if chosen.any():
            chosen &= _is_steady(at, comparison, seed)
        if chosen.any():
            off, exact = _difference(comparison), comparison.exact
            assert exact is not None
            with np.errstate(all="ignore"):
                part = np.abs(off / exact)[chosen & (exact != 0)].max(initial=0.0)
            yield Imprecision(comparison, chosen, float(part))


def is_of_default_dtype(at: Derivatives, found: Imprecision) -> bool:
    """Return True if the difference is gone when float64 is the default dtype."""
    argument = found.comparison.argument
    try:
        with at.function.in_double():
            analytic, exact = _both_sides(at, at.primals, argument)
    except Exception:  # The user's code may need another dtype.
        return False
    off = np.abs(_difference(found.comparison))
    with np.errstate(all="ignore"):
        left = np.abs(analytic - exact) * IMPRECISE_SAFETY
    return bool((left < off)[found.chosen].all())


def _suspects(at: Derivatives, comparison: Comparison) -> BoolArray:
    """Flag entries that are off by more than the roundings of their row, where all is plain."""
    exact, analytic, tolerance = comparison.exact, comparison.analytic, comparison.tolerance
    own = epsilon(at.primals[comparison.argument].dtype)
    coarse = max(float(tolerance.eps.max(initial=0.0)), own)
    given = tolerance.atol is not None or tolerance.rtol is not None
    if exact is None or given or coarse > DOUBLE_EPS:
        return np.zeros(analytic.shape, dtype=bool)
    size = np.abs(exact)
    row, column = size.max(axis=1, keepdims=True), size.max(axis=0, keepdims=True)
    known = np.isin(comparison.numeric.status, (Status.KNOWN, Status.FLAT))
    right = comparison.decision == Decision.PASS
    off = np.abs(_difference(comparison))
    suspects = known & right & (off > IMPRECISE_ROUNDINGS * coarse * np.maximum(row, column))
    if not suspects.any():
        return np.asarray(suspects)
    # Only now: the noise of the outputs costs evaluations.
    return np.asarray(
        suspects & at.is_plain[:, None] & (off > at.rounding_floor(comparison.argument))
    )


def _difference(comparison: Comparison) -> FloatArray:
    assert comparison.exact is not None
    return np.asarray(comparison.analytic - comparison.exact)


def _is_steady(at: Derivatives, comparison: Comparison, seed: int) -> BoolArray:
    """Flag entries whose difference stays the same where all operations round otherwise."""
    argument, off = comparison.argument, _difference(comparison)
    own = comparison.analytic - off
    rng = generator(seed, "imprecision")
    steady = np.ones(off.shape, dtype=bool)
    for _ in range(IMPRECISE_LOOKS):
        point = rounded_differently(at.primals, at.inputs, rng)
        try:
            analytic, exact = _both_sides(at, point, argument)
        except Exception:  # The user's code need not be defined there.
            return np.zeros(off.shape, dtype=bool)
        with np.errstate(all="ignore"):
            moved = np.maximum(np.abs(analytic - comparison.analytic), np.abs(exact - own))
            steady &= np.abs(off) > IMPRECISE_SAFETY * moved
            steady &= np.abs(analytic - exact - off) <= IMPRECISE_UNSTEADY * np.abs(off)
    return steady


def _both_sides(
    at: Derivatives, point: Sequence[Array], argument: int
) -> tuple[FloatArray, FloatArray]:
    """The derivative by one argument at another point, of backward and of the recorded forward."""
    assert at.recorded is not None
    layout, scaling = at.layout, at.analytic.scaling
    one, other = (analytic_jacobian(f, point, layout, scaling) for f in (at.function, at.recorded))
    return one.matrices[argument], other.matrices[argument]
