"""The parts in which a gradient is right and wrong, when no single mistake explains all of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.diagnosis.guesses import (
    Guess,
    Guesses,
    common_factor,
    factor_words,
    has_entries,
    has_wrong_factor,
    input_block,
    is_minus_that_of_another_argument,
    is_taken_at_output,
)
from gradtool.verify.diagnosis.monomials import is_off_by_a_product, is_without_a_term
from gradtool.verify.diagnosis.regions import regions_of_argument, slices
from gradtool.verify.protocol.coordinates import BoolArray
from gradtool.verify.thresholds.diagnosis import FACTOR_EXACT, FEW_DIGITS_DIFFERENCE, LISTED_ENTRIES
from gradtool.verify.wording import apart


def _ignores_outputs(_: Derivatives, comparison: Comparison) -> Guesses:
    """The cotangent of one output takes no part."""
    found = _wrong_outputs(comparison)
    if found:
        outputs, part = found
        ignored = np.where(part, 0.0, comparison.numeric.value)
        cotangent = "cotangents" if outputs.startswith("outputs") else "cotangent"
        yield f"ignores the {cotangent} of {outputs}, but is otherwise right", ignored


def _misses_outputs(_: Derivatives, comparison: Comparison) -> Guesses:
    """The cotangent of one output is treated wrongly."""
    found = _wrong_outputs(comparison)
    if found:
        outputs, part = found
        for words, expected in _made_of(comparison, part):
            made = f", where it {words}" if words else ""
            yield f"is right except for the part from {outputs}{made}", expected


def _wrong_outputs(comparison: Comparison) -> tuple[str, BoolArray] | None:
    """The outputs that are wrong in words, and their rows; None if all are, or there is one."""
    blocks = comparison.layout.outputs.blocks
    if comparison.layout.functionals is not None or len(blocks) < 2:
        return None
    wrong = _wrong(comparison)
    positions = [i for i, block in enumerate(blocks) if wrong[block.span].any()]
    if len(positions) == len(blocks):
        return None
    part = np.zeros_like(wrong)
    for position in positions:
        part[blocks[position].span] = True
    plural = "s" if len(positions) > 1 else ""
    return f"output{plural} {' and '.join(map(str, positions))}", part


def _takes_one_slice(_: Derivatives, comparison: Comparison) -> Guesses:
    """Only one term is taken of a sum over broadcast dims."""
    blocks = comparison.layout.outputs.blocks
    if not has_entries(comparison) or len(blocks) != 1:
        return
    (block,) = blocks
    numeric = comparison.numeric.value
    silent = np.asarray(~comparison.analytic.any(axis=1))
    wrong = np.asarray(_wrong(comparison).any(axis=1))
    for region in slices(block.shape) if silent.any() else ():
        rows = np.repeat(region.mask.reshape(-1), 2 if block.is_complex else 1)
        if silent[~rows].all():
            text = f"uses grad_output only {region.words}: sum over the broadcast dims"
            yield text, np.where(rows[:, None], numeric, 0.0)
        if silent[rows].all() and not wrong[~rows].any():
            text = f"ignores grad_output {region.words}, but is right for the rest"
            yield text, np.where(rows[:, None], 0.0, numeric)


def _is_wrong_in_a_region(derivatives: Derivatives, comparison: Comparison) -> Guesses:
    """The entries of the input with a wrong gradient form a region."""
    if not has_entries(comparison):
        return
    block = input_block(comparison)
    entries = block.entries(np.asarray(_wrong(comparison).any(axis=0)))
    found = None if entries.all() else _described(derivatives, comparison, entries)
    if found is None:
        return
    where, mistakes = found
    columns = np.repeat(entries, 2 if block.is_complex else 1)
    part = np.asarray(np.broadcast_to(columns, comparison.analytic.shape))
    for words, expected in _made_of(comparison, part):
        made = f"; the rest {words}" if words else ""
        yield f"is right {where}{made}: did you {mistakes}?", expected


def _described(
    derivatives: Derivatives, comparison: Comparison, wrong: BoolArray
) -> tuple[str, str] | None:
    """Describe where the gradient is right, in all ways that fit, and the likely mistakes."""
    found: dict[str, str] = {}
    for region in regions_of_argument(derivatives, comparison):
        flat = region.mask.reshape(-1)
        if np.array_equal(flat, wrong):
            found.setdefault(region.mistake, f"except {region.words}")
        elif np.array_equal(~flat, wrong):
            found.setdefault(region.mistake, f"only {region.words}")
    if not found:
        return None
    where, *others = found.values()
    also = f" (that is, {others[0]})" if others else ""
    return f"{where}{also}", ", or ".join(found)


def _is_masked_wrongly(_: Derivatives, comparison: Comparison) -> Guesses:
    """Wrong just where the derivative, or the gradient, is zero."""
    analytic, numeric, wrong = comparison.analytic, comparison.numeric.value, _wrong(comparison)
    if not has_entries(comparison) or not wrong.any():
        return
    share = f"in {int(wrong.sum())} of {wrong.size} entries of the Jacobian"
    if not numeric[wrong].any():
        text = f"is not zero {share} where the derivative is zero, but right elsewhere"
        yield f"{text}: did you forget a mask?", None
    elif not analytic[wrong].any():
        text = f"is zero {share} where the derivative is not zero, but right elsewhere"
        yield f"{text}: did you leave out a part or a branch?", np.where(wrong, 0.0, numeric)
    elif np.array_equal(analytic.any(axis=0), ~numeric.any(axis=0)):
        text = "is zero where the derivative is not, and the other way round"
        yield f"{text}: did you invert a mask?", None


def _is_in_wrong_places(_: Derivatives, comparison: Comparison) -> Guesses:
    """The pattern of zeros differs: entries that are connected in one Jacobian and not the other.

    Nothing is claimed of the values.
    """
    analytic, numeric, wrong = comparison.analytic, comparison.numeric.value, _wrong(comparison)
    if not has_entries(comparison):
        return
    missing = wrong & (analytic == 0)
    added = wrong & (np.abs(numeric) <= comparison.numeric.error)
    if added.any():
        where = f"in {int(added.sum())} of {wrong.size} entries of the Jacobian"
        text = f"is not zero {where} where the derivative is zero"
        yield f"{text}: is it summed, expanded or indexed along the wrong dim?", None
    elif missing.any():
        text = f"leaves out {int(missing.sum())} of {wrong.size} entries of the Jacobian"
        why = "did you treat a sum, mean or norm over other entries as a constant?"
        yield f"{text}, and is wrong in others: {why}", None


def _is_scaled_by_rows(_: Derivatives, comparison: Comparison) -> Guesses:
    """A factor of its own for each entry of the cotangent, where others are connected too."""
    analytic, numeric = comparison.analytic, comparison.numeric.value
    if not has_entries(comparison) or (np.count_nonzero(numeric, axis=1) < 2).all():
        return
    with np.errstate(all="ignore"):
        factors = np.sum(analytic * numeric, axis=1) / np.sum(numeric**2, axis=1)
    known = factors[np.isfinite(factors)]
    if known.size:
        between = f"between {factor_words(known.min())} and {factor_words(known.max())}"
        text = f"has an extra factor for each entry of grad_output, {between}"
        yield f"{text}: did you forget a count or a norm?", factors[:, None] * numeric


def _is_scaled_in_one_branch(_: Derivatives, comparison: Comparison) -> Guesses:
    """Right in some entries, and one factor off in all others."""
    wrong, numeric = _wrong(comparison), comparison.numeric.value
    matters = np.isfinite(numeric) & (numeric != 0)
    right = int((matters & ~wrong).sum())
    factor = common_factor(comparison, wrong) if right and has_entries(comparison) else None
    if factor:
        count = int(matters.sum())
        yield (
            f"is right in {right} of {count} entries and is the derivative times "
            f"{factor_words(factor)} in the others: does a branch have the wrong factor?",
            np.where(wrong, factor * numeric, numeric),
        )


def _is_right_in_most(_: Derivatives, comparison: Comparison) -> Guesses:
    """List the wrong entries of the Jacobian, if they are few."""
    wrong = _wrong(comparison)
    if has_entries(comparison) and wrong.sum() <= wrong.size / 2:
        columns = np.flatnonzero(wrong.any(axis=0))
        places = [input_block(comparison).index(int(column)) for column in columns]
        if len(places) <= wrong.shape[1] / 2:
            listed = ", ".join(str(list(place)) for place in places[:LISTED_ENTRIES])
            more = ", ..." if len(places) > LISTED_ENTRIES else ""
            where = f"entr{'y' if len(places) == 1 else 'ies'} {listed}{more}"
            yield f"is wrong only in {where}: did you leave out a term there?", None


def _is_of_other_sizes(_: Derivatives, comparison: Comparison) -> Guesses:
    """Give the range of the errors, where nothing else fits."""
    with np.errstate(all="ignore"):
        ratio = comparison.analytic / comparison.numeric.value
    known = ratio[np.isfinite(ratio) & (comparison.numeric.value != 0)]
    if known.size > 1:
        known = np.where(np.abs(known) < FACTOR_EXACT * np.abs(known).max(), 0, known)
        low, high = apart(float(known.min()), float(known.max()), digits=2)
        yield (
            f"is between {low} and {high} times the derivative, which no single mistake explains:"
            " did you leave out a term or the product rule?",
            None,
        )


def _has_few_digits(_: Derivatives, comparison: Comparison) -> Guesses:
    """Close everywhere, yet not close enough."""
    known = np.isfinite(comparison.numeric.value)
    if (comparison.decision[~known] == Decision.FAIL).any():
        return
    numeric, analytic = comparison.numeric.value[known], comparison.analytic[known]
    difference = np.abs(analytic - numeric)
    if difference.size and (difference <= FEW_DIGITS_DIFFERENCE * np.abs(numeric)).all():
        relative = np.max(difference[numeric != 0] / np.abs(numeric[numeric != 0]), initial=0.0)
        text = f"is accurate only to a relative error of {relative:.1g}"
        why = "is something rounded, cut short, or computed in lower precision?"
        yield f"{text}: {why}", None


PARTIAL_ERRORS: Sequence[Guess] = (
    _ignores_outputs,
    _misses_outputs,
    _takes_one_slice,
    _is_wrong_in_a_region,
    _is_masked_wrongly,
    is_taken_at_output,
    _has_few_digits,
    is_off_by_a_product,
    is_without_a_term,
    _is_scaled_by_rows,
    _is_in_wrong_places,
    _is_scaled_in_one_branch,
    _is_right_in_most,
    _is_of_other_sizes,
)


LOOSE: Sequence[Guess] = (
    is_minus_that_of_another_argument,
    has_wrong_factor,
    _misses_outputs,
    _is_wrong_in_a_region,
    _is_masked_wrongly,
    is_off_by_a_product,
    is_without_a_term,
    _is_scaled_by_rows,
    _is_scaled_in_one_branch,
)
"""Guesses that say what is wrong by numbers alone, and not which mistake it is."""


def _wrong(comparison: Comparison) -> BoolArray:
    return np.asarray(comparison.decision == Decision.FAIL)


def _made_of(comparison: Comparison, part: BoolArray) -> Guesses:
    """Yield what a mistake may have made of the derivative in the part that is wrong."""
    numeric = comparison.numeric.value
    yield "is zero", np.where(part, 0.0, numeric)
    yield "has the wrong sign", np.where(part, -numeric, numeric)
    factor = common_factor(comparison, part)
    if factor:
        words = f"is the derivative times {factor_words(factor)}"
        yield words, np.where(part, factor * numeric, numeric)
    yield "", None
