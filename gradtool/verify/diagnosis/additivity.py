"""Whether the gradient for cotangents of all outputs is the sum of those for each alone.

The rows of a Jacobian are asked for one at a time. A backward that keeps only the last
output's part, or that is no linear map, can be right in every row and wrong in use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.comparison.tolerance import default_rtol
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import BoolArray
from gradtool.verify.thresholds.comparison import GRADIENT_ROUNDINGS


@dataclass(frozen=True)
class Surplus:
    """Where the gradient for all cotangents together is not the sum of its parts.

    `column` is the worst, `chosen` says which columns are off at all.
    """

    column: int
    chosen: BoolArray
    together: float
    summed: float
    allowed: float


def surplus(derivatives: Derivatives, comparison: Comparison) -> Surplus | None:
    """The disagreement in the gradient of one argument; None when there is none to see."""
    layout = comparison.layout
    if layout.functionals is not None or not comparison.analytic.size:
        return None
    together = derivatives.together(comparison.argument)
    summed = derivatives.cotangent @ comparison.analytic
    size = np.abs(derivatives.cotangent) @ np.abs(comparison.analytic)
    eps = max(float(layout.eps().max()), epsilon(derivatives.primals[comparison.argument].dtype))
    error = np.abs(derivatives.cotangent) @ np.nan_to_num(comparison.numeric.error)
    rounding = GRADIENT_ROUNDINGS * eps * (size.max() + 10 * comparison.tolerance.largest)
    allowed = default_rtol(eps) * size + error + rounding
    with np.errstate(all="ignore"):
        excess = np.abs(together - summed)
        chosen = ~(excess <= allowed)
    if not chosen.any() or not np.isfinite(comparison.analytic).all():
        return None
    column = int(np.argmax(np.where(chosen, np.nan_to_num(excess, nan=np.inf), -1.0)))
    return Surplus(
        column, chosen, float(together[column]), float(summed[column]), float(allowed[column])
    )
