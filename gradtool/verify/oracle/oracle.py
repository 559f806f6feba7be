"""The derivative oracle: a numeric Jacobian with the error of each of its entries.

First a cheap pass: one central difference for each input, with a step that suits a smooth
function. An entry that agrees with the analytic value, shows no kink and is not drowned in noise
is settled. The others are refined on a ladder of halving steps, which gives value ± error, no
derivative here, or unknown. Refinement starts with the columns that disagree most, and ends as
soon as a disagreement is certain: a wrong backward costs a few columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from gradtool.verify.comparison.compare import Decision, block_scale, decide, is_inside
from gradtool.verify.comparison.tolerance import Tolerance
from gradtool.verify.oracle.classification import classify
from gradtool.verify.oracle.difference_quotients import Differences, Line, central_differences
from gradtool.verify.oracle.estimate import Estimate, Status
from gradtool.verify.oracle.noise import Noise
from gradtool.verify.oracle.step_ladder import sample_ladders
from gradtool.verify.oracle.steps import cheap_step
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.thresholds.effort import FIRST_REFINED_COLUMNS
from gradtool.verify.thresholds.steps import (
    CHEAP_KINK_GAP,
    CHEAP_NOISE_SHARE,
    UNREFINED_ERROR_MARGIN,
    WORST_WORKING_PRECISION,
)


class Query(msgspec.Struct, frozen=True):
    """The derivative along `lines` to find, and the analytic one that it is compared with.

    `analytic` has one column for each line and one row for each output; `blocks` are the rows
    that belong to one output each. `base` are the outputs at the point itself, and `eps` is the
    precision of the inputs. `resolution` is an error that every entry has.
    """

    lines: Sequence[Line]
    base: FloatArray
    analytic: FloatArray
    noise: Noise
    tolerance: Tolerance
    blocks: Sequence[slice]
    eps: float
    resolution: FloatArray


def numeric_derivative(query: Query) -> Estimate:
    """The derivative along every line, as sharp as the claim about it demands."""
    with np.errstate(all="ignore"):
        eps = working_eps(query.noise, query.base, query.eps)
        steps = [cheap_step(line.scale, eps) for line in query.lines]
        differences = central_differences(query.lines, steps, len(query.analytic))
        estimate = _cheap(query, differences)
        unsettled = _looked_at_closely(query, estimate, _unsettled(query, differences, estimate))
        _refine(query, estimate, unsettled)
    return estimate


def working_eps(noise: Noise, base: FloatArray, finest: float) -> float:
    """Return the precision that a function shows, at best that of its inputs, `finest`."""
    size = np.abs(base)
    relative = noise.floor[size > 0] / (2 * size[size > 0])
    shown = _median(relative) if relative.size else 0.0
    return max(finest, min(shown, WORST_WORKING_PRECISION))


def _median(values: FloatArray) -> float:
    """Return the median; NumPy's takes ten times as long for a few numbers."""
    ordered, middle = np.sort(values), len(values) // 2
    return float(ordered[middle] + ordered[~middle]) / 2


def _cheap(query: Query, differences: Differences) -> Estimate:
    known = np.isfinite(differences.value)
    constant = (differences.value == 0) & (differences.gap == 0) & (query.analytic == 0)
    # A noisy output that rests may be moving in steps; the ladder tells.
    constant &= query.noise.is_plain(query.base)[:, None]
    status = np.where(constant, Status.FLAT, np.where(known, Status.KNOWN, Status.UNKNOWN))
    status[~np.isfinite(query.base)] = Status.OUTSIDE
    nothing = np.full(known.shape, np.nan)
    noise = query.noise.floor[:, None]
    return Estimate(
        value=np.where(known, differences.value, np.nan),
        error=np.where(known, noise / differences.step + query.resolution, np.nan),
        status=status.astype(np.int8),
        left=nothing,
        # `Estimate.put` writes to both, so they must not share memory.
        right=nothing.copy(),
    )


def _unsettled(query: Query, differences: Differences, estimate: Estimate) -> BoolArray:
    """Flag entries that the cheap pass does not settle."""
    slope = np.fmax(np.abs(query.analytic), np.abs(estimate.value))
    kinked = differences.gap > CHEAP_KINK_GAP * slope + 4 * estimate.error
    outside = ~is_inside(query.analytic, estimate, query.tolerance)
    settled = (estimate.status == Status.FLAT) | (estimate.status == Status.OUTSIDE)
    return np.asarray(~settled & (kinked | outside)) | _noisy(query, estimate)


def _noisy(query: Query, estimate: Estimate) -> BoolArray:
    """Flag entries whose error is too large for the scale of their block."""
    scale = block_scale(query.analytic, estimate, query.blocks)
    bearable = CHEAP_NOISE_SHARE * query.tolerance.meaningful_error(scale)[:, None]
    return np.asarray((estimate.status == Status.KNOWN) & (estimate.error > bearable))


def _looked_at_closely(query: Query, estimate: Estimate, unsettled: BoolArray) -> BoolArray:
    """Settle entries that are right over steps of their own coordinate's size; return the others.

    Steps of the array's size lead a coordinate that is far smaller anywhere.
    """
    asked = np.asarray(unsettled.any(axis=0))
    columns = [at for at, line in enumerate(query.lines) if asked[at] and line.is_dwarfed]
    if not columns:
        return unsettled
    lines = [query.lines[column].close_up() for column in columns]
    wanted = [unsettled[:, column] for column in columns]
    ladders = sample_ladders(lines, query.noise, wanted, [np.zeros_like(rows) for rows in wanted])
    closely = estimate.copy()
    for column, samples, rows in zip(columns, ladders, wanted, strict=True):
        closely.put(column, classify(samples), rows)
        closely.error[rows, column] += query.resolution[rows, column]
    is_right = unsettled & (closely.status == Status.KNOWN)
    is_right &= is_inside(query.analytic, closely, query.tolerance)
    for column in columns:
        estimate.put(column, closely.column(column), is_right[:, column])
    return np.asarray(unsettled & ~is_right)


def _refine(query: Query, estimate: Estimate, unsettled: BoolArray) -> None:
    """Refine the unsettled entries of `estimate`, worst columns first, until one is wrong."""
    # `put` overwrites the estimate; how far off the cheap values were is needed at the end.
    cheap = estimate.value.copy()
    tried = np.zeros_like(unsettled)
    batch = FIRST_REFINED_COLUMNS
    while (pending := unsettled & ~tried).any():
        columns = _by_disagreement(query, estimate, pending)[:batch]
        ladders = sample_ladders(
            [query.lines[column] for column in columns],
            query.noise,
            [pending[:, column] for column in columns],
            [_contested(query, column) for column in columns],
        )
        for column, samples in zip(columns, ladders, strict=True):
            rows = pending[:, column]
            estimate.put(column, classify(samples), rows)
            estimate.error[rows, column] += query.resolution[rows, column]
            tried[rows, column] = True
        _mark_stepped(query, estimate)
        if _is_wrong(query, estimate, tried):
            pending &= ~tried
            # Columns that were not refined keep a cheap value; the refined ones show what that is
            # worth.
            off = _cheap_error_bound(cheap[tried], estimate.value[tried])
            estimate.error[pending] += off * np.abs(estimate.value[pending])
            break
        # Sharper values may have shrunk the scale of a block, next to which other errors are now
        # large.
        unsettled = unsettled | _noisy(query, estimate)
        batch *= 2


def _contested(query: Query, column: int) -> BoolArray:
    """Flag rows whose analytic slope exceeds their noise, which is more than plain rounding."""
    reach = query.lines[column].scale
    moves = np.abs(query.analytic[:, column]) * reach > query.noise.floor
    return np.asarray(moves & ~query.noise.is_plain(query.base))


def _mark_stepped(query: Query, estimate: Estimate) -> None:
    """An output that moves in steps at one entry is not called constant at another."""
    for block in query.blocks:
        status = estimate.status[block]
        if (status == Status.STEPPED).any():
            constant = (status == Status.FLAT) & (query.analytic[block] != 0)
            status[constant] = Status.STEPPED
            estimate.value[block][constant] = estimate.error[block][constant] = np.nan


def _cheap_error_bound(cheap: FloatArray, sharp: FloatArray) -> float:
    """A bound on the relative error of cheap quotients, from the columns that were tried.

    A step too coarse for the function gives far too small a quotient, and the bound is a part of
    such a quotient.
    """
    off = np.abs(cheap - sharp) / np.fmin(np.abs(cheap), np.abs(sharp))
    return UNREFINED_ERROR_MARGIN * float(np.max(off[np.isfinite(off)], initial=0.0))


def _by_disagreement(query: Query, estimate: Estimate, unsettled: BoolArray) -> list[int]:
    """Return the unsettled columns, those that disagree most first, unknown ones last."""
    excess = np.abs(query.analytic - estimate.value) / (
        query.tolerance.allowed(query.analytic, estimate.value) + estimate.error
    )
    worst = np.where(unsettled, np.nan_to_num(excess, nan=0.0), -1.0).max(axis=0, initial=-1.0)
    order = np.argsort(-worst, kind="stable")
    return [int(column) for column in order if worst[column] >= 0]


def _is_wrong(query: Query, estimate: Estimate, tried: BoolArray) -> bool:
    """Return True if an entry that was refined fails."""
    decision = decide(query.analytic, estimate, query.tolerance, query.blocks)
    return bool((decision[tried] == Decision.FAIL).any())
