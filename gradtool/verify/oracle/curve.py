"""How difference quotients of one entry near its derivative as the step falls.

The oracle has decided by then. This samples the line once more, over all steps that mean
anything, so that a person can see what it saw: a straight fall towards the derivative, then
rounding. A kink or a jump shows as quotients that never settle.
"""

from __future__ import annotations

import numpy as np

from gradtool.results.evidence import Scalar
from gradtool.results.report import LadderCurve, scalar
from gradtool.verify.oracle.difference_quotients import Line
from gradtool.verify.oracle.noise import Noise
from gradtool.verify.oracle.steps import power_of_two
from gradtool.verify.thresholds.steps import (
    CURVE_MOST_STEPS,
    CURVE_STEP_RATIO,
    SMALLEST_STEP_SPACINGS,
)


def ladder_curve(line: Line, noise: Noise, row: int) -> LadderCurve:
    """Central difference quotients of one output along `line`; two evaluations for each."""
    steps: list[float] = []
    quotients: list[Scalar] = []
    floors: list[Scalar] = []
    step = power_of_two(line.scale / 2)
    while len(steps) < CURVE_MOST_STEPS and step >= SMALLEST_STEP_SPACINGS * line.resolution:
        (ahead, plus), (back, minus) = line.at(step), line.at(-step)
        with np.errstate(all="ignore"):
            quotient = (plus[row] - minus[row]) / (ahead - back)
            size = np.nan_to_num(np.fmax(np.abs(plus), np.abs(minus)))
        steps.append(step)
        quotients.append(scalar(quotient))
        floors.append(scalar(noise.at(size)[row] / step))
        step *= CURVE_STEP_RATIO
    return LadderCurve(steps=tuple(steps), quotients=tuple(quotients), noise=tuple(floors))
