"""By what factor a gradient is wrong, as a reader would write it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gradtool.verify.comparison.derivatives import Comparison
from gradtool.verify.protocol.coordinates import BoolArray
from gradtool.verify.thresholds.diagnosis import FACTOR_EXACT, FACTOR_MOST_DENOMINATOR


def common_factor(comparison: Comparison, where: BoolArray) -> float | None:
    """The factor that brings the numeric Jacobian closest to the analytic one in some entries."""
    analytic, numeric = comparison.analytic[where], comparison.numeric.value[where]
    known = np.isfinite(numeric) & np.isfinite(analytic)
    with np.errstate(all="ignore"):
        square = float(np.sum(numeric[known] ** 2))
        product = float(np.sum(analytic[known] * numeric[known]))
    return product / square if square else None


def factor_words(factor: float, counts: Collection[int] = ()) -> str:
    """The factor as a whole number or a fraction, if it is one.

    `counts` are numbers of entries that a sum or a mean may run over.
    """
    for denominator in range(1, FACTOR_MOST_DENOMINATOR + 1):
        whole = round(factor * denominator)
        if whole and abs(factor * denominator - whole) <= FACTOR_EXACT * abs(whole):
            if denominator == 1:
                return f"{whole}{': a sum for a mean?' if whole > 1 and whole in counts else ''}"
            if abs(whole) == 1:
                mean = whole == 1 and denominator in counts
                return f"{whole}/{denominator}{': a mean for a sum?' if mean else ''}"
    return f"{factor:.6g}"
