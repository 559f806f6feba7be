"""The derivative oracle: a numeric Jacobian that knows how far it can be trusted.

First a cheap pass: one central difference for each input, with a step that suits a smooth
function. Whatever agrees with the analytic value, shows no kink and is not drowned in noise
is settled. Only what disagrees goes to appeal: a ladder of halving steps, which answers value
± error, no derivative here, or cannot tell. Appeals start with the worst disagreement, and
end as soon as one stands: a wrong backward is found out at the price of a few columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradtool.verify.comparison.compare import Decision, block_scale, decide, is_inside
from gradtool.verify.comparison.tolerance import Tolerance
from gradtool.verify.oracle.difference_quotients import Differences, Line, central_differences
from gradtool.verify.oracle.estimate import Estimate, Status
from gradtool.verify.oracle.noise import Noise
from gradtool.verify.oracle.point import read
from gradtool.verify.oracle.step_ladder import climb_all
from gradtool.verify.oracle.steps import cheap_step
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.thresholds.effort import FIRST_REFINED_COLUMNS
from gradtool.verify.thresholds.steps import (
    CHEAP_KINK_GAP,
    CHEAP_NOISE_SHARE,
    UNREFINED_ERROR_MARGIN,
    WORST_WORKING_PRECISION,
)


@dataclass(frozen=True)
class Question:
    """What the oracle is asked: the derivative along `lines`, given what is claimed of it.

    `analytic` has one column for each line and one row for each output; `blocks` are the rows
    that belong to one output each. `base` are the outputs at the point itself, and `eps` is the
    precision of the inputs. `least` is an error that each entry has in any case.
    """

    lines: Sequence[Line]
    base: FloatArray
    analytic: FloatArray
    noise: Noise
    tolerance: Tolerance
    blocks: Sequence[slice]
    eps: float
    least: FloatArray


def answer(question: Question) -> Estimate:
    """The derivative along every line, as sharp as the claim about it demands."""
    with np.errstate(all="ignore"):
        eps = working_eps(question.noise, question.base, question.eps)
        steps = [cheap_step(line.scale, eps) for line in question.lines]
        differences = central_differences(question.lines, steps, len(question.analytic))
        estimate = _cheap(question, differences)
        doubt = _doubt(question, differences, estimate)
        _appeal(question, estimate, doubt)
    return estimate


def working_eps(noise: Noise, base: FloatArray, finest: float) -> float:
    """The precision that a function shows, where it is worse than its inputs', `finest`."""
    size = np.abs(base)
    relative = noise.floor[size > 0] / (2 * size[size > 0])
    shown = _median(relative) if relative.size else 0.0
    return max(finest, min(shown, WORST_WORKING_PRECISION))


def _median(values: FloatArray) -> float:
    """As NumPy's, which takes ten times as long to tell it of a few numbers."""
    ordered, middle = np.sort(values), len(values) // 2
    return float(ordered[middle] + ordered[~middle]) / 2


def _cheap(question: Question, differences: Differences) -> Estimate:
    known = np.isfinite(differences.value)
    rests = (differences.value == 0) & (differences.gap == 0) & (question.analytic == 0)
    rests &= question.noise.is_plain(question.base)[:, None]
    status = np.where(rests, Status.FLAT, np.where(known, Status.KNOWN, Status.UNKNOWN))
    status[~np.isfinite(question.base)] = Status.OUTSIDE
    nothing = np.full(known.shape, np.nan)
    noise = question.noise.floor[:, None]
    return Estimate(
        value=np.where(known, differences.value, np.nan),
        error=np.where(known, noise / differences.step + question.least, np.nan),
        status=status.astype(np.int8),
        left=nothing,
        right=nothing.copy(),
    )


def _doubt(question: Question, differences: Differences, estimate: Estimate) -> BoolArray:
    """Which entries the cheap pass does not settle."""
    slope = np.fmax(np.abs(question.analytic), np.abs(estimate.value))
    kinked = differences.gap > CHEAP_KINK_GAP * slope + 4 * estimate.error
    outside = ~is_inside(question.analytic, estimate, question.tolerance)
    settled = (estimate.status == Status.FLAT) | (estimate.status == Status.OUTSIDE)
    return np.asarray(~settled & (kinked | outside)) | _loud(question, estimate)


def _loud(question: Question, estimate: Estimate) -> BoolArray:
    """Which entries are known too poorly for the scale of their block, as far as that is seen."""
    scale = block_scale(question.analytic, estimate, question.blocks)
    bearable = CHEAP_NOISE_SHARE * question.tolerance.meaningful(scale)[:, None]
    return np.asarray((estimate.status == Status.KNOWN) & (estimate.error > bearable))


def _appeal(question: Question, estimate: Estimate, doubt: BoolArray) -> None:
    """Replace the doubtful entries of `estimate`, worst columns first, until one is found wrong."""
    cheap = estimate.value.copy()
    tried = np.zeros_like(doubt)
    batch = FIRST_REFINED_COLUMNS
    while (pending := doubt & ~tried).any():
        columns = _by_disagreement(question, estimate, pending)[:batch]
        climbed = climb_all(
            [question.lines[column] for column in columns],
            question.noise,
            [pending[:, column] for column in columns],
            [_contested(question, column) for column in columns],
        )
        for column, samples in zip(columns, climbed, strict=True):
            rows = pending[:, column]
            estimate.put(column, read(samples), rows)
            estimate.error[rows, column] += question.least[rows, column]
            tried[rows, column] = True
        _distrust(question, estimate)
        if _is_wrong(question, estimate, tried):
            pending &= ~tried
            off = _how_far_off(cheap[tried], estimate.value[tried])
            estimate.error[pending] += off * np.abs(estimate.value[pending])
            break
        doubt = doubt | _loud(question, estimate)
        batch *= 2


def _contested(question: Question, column: int) -> BoolArray:
    """Which rows are claimed to move by more than their noise, and are too noisy to be sure."""
    reach = question.lines[column].scale
    moves = np.abs(question.analytic[:, column]) * reach > question.noise.floor
    return np.asarray(moves & ~question.noise.is_plain(question.base))


def _distrust(question: Question, estimate: Estimate) -> None:
    """An output that moves in steps at one entry is not called constant at another."""
    for block in question.blocks:
        status = estimate.status[block]
        if (status == Status.STEPPED).any():
            constant = (status == Status.FLAT) & (question.analytic[block] != 0)
            status[constant] = Status.STEPPED
            estimate.value[block][constant] = estimate.error[block][constant] = np.nan


def _how_far_off(cheap: FloatArray, sharp: FloatArray) -> float:
    """A bound on the relative error of cheap quotients, from the columns that were tried."""
    off = np.abs(cheap - sharp) / np.abs(sharp)
    return UNREFINED_ERROR_MARGIN * float(np.max(off[np.isfinite(off)], initial=0.0))


def _by_disagreement(question: Question, estimate: Estimate, doubt: BoolArray) -> list[int]:
    """The doubtful columns, those that disagree most first; what is unknown comes last."""
    excess = np.abs(question.analytic - estimate.value) / (
        question.tolerance.allowed(question.analytic, estimate.value) + estimate.error
    )
    worst = np.where(doubt, np.nan_to_num(excess, nan=0.0), -1.0).max(axis=0, initial=-1.0)
    order = np.argsort(-worst, kind="stable")
    return [int(column) for column in order if worst[column] >= 0]


def _is_wrong(question: Question, estimate: Estimate, tried: BoolArray) -> bool:
    """Whether an entry that was tried fails for good."""
    decision = decide(question.analytic, estimate, question.tolerance, question.blocks)
    return bool((decision[tried] == Decision.FAIL).any())
