"""Whether a given tolerance is far looser than the comparisons made with it need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradtool.verify.comparison.compare import decide
from gradtool.verify.comparison.derivatives import Comparison
from gradtool.verify.comparison.tolerance import Tolerance, default_rtol
from gradtool.verify.thresholds.rules import NEEDLESS_TOLERANCE_FACTOR


def needless(comparisons: Sequence[Comparison]) -> dict[str, float]:
    """The tolerances, ``atol`` or ``rtol``, of which a tenth would do, with their values."""
    if not comparisons:
        return {}
    given = comparisons[0].tolerance
    found = {}
    if given.atol and all(_passes(each, _tenth_of_atol(each)) for each in comparisons):
        found["atol"] = given.atol
    if given.rtol and all(_is_loose(each) for each in comparisons):
        found["rtol"] = given.rtol
    return found


def largest_difference(comparisons: Sequence[Comparison]) -> float:
    """By how much an analytic value is off at most, what the oracle cannot tell apart from it."""
    differences = [
        np.abs(each.analytic - each.numeric.value) - each.numeric.error for each in comparisons
    ]
    known = [each[np.isfinite(each)] for each in differences]
    return max((float(each.max(initial=0.0)) for each in known), default=0.0)


def _tenth_of_atol(comparison: Comparison) -> Tolerance:
    return replace(
        comparison.tolerance, atol=(comparison.tolerance.atol or 0.0) / NEEDLESS_TOLERANCE_FACTOR
    )


def _is_loose(comparison: Comparison) -> bool:
    """Whether the relative tolerance is above the default, and a tenth of it would do."""
    rtol, default = comparison.tolerance.rtol or 0.0, _default(comparison)
    tighter = replace(comparison.tolerance, rtol=max(rtol / NEEDLESS_TOLERANCE_FACTOR, default))
    return rtol > default and _passes(comparison, tighter)


def _default(comparison: Comparison) -> float:
    return max((default_rtol(float(eps)) for eps in comparison.tolerance.eps), default=0.0)


def _passes(comparison: Comparison, tolerance: Tolerance) -> bool:
    """Whether no entry is judged worse with another tolerance."""
    blocks = comparison.layout.blocks()
    decision = decide(comparison.analytic, comparison.numeric, tolerance, blocks)
    return bool((decision <= comparison.decision).all())
