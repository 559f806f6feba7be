"""Recognizes gradients that differ from the derivative on purpose.

Straight-through estimators, surrogate gradients, gradient reversal and their like replace a
derivative that is useless for training. Only a forward that gives a reason to do so is taken for
one: a step, whose derivative is zero wherever it exists or comes from the size of the step alone,
an output that is the input unchanged, a clamp to bounds whose backward keeps nothing that it could
mask with, or a result that depends on none of the arguments with a gradient, only on others. Or a
docstring says that paths are cut, and the gradient is a share of the derivative. Any other gradient
that is not the derivative is a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.diagnosis.forward_at_far_points import (
    is_ignored,
    is_passed_on,
    is_step,
    is_still,
)
from gradtool.verify.diagnosis.stopped_gradients import (
    STOPPED,
    is_documented_constant,
    kind_of_stopped,
)
from gradtool.verify.diagnosis.straight_through import is_straight_through
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.protocol.observation import Array
from gradtool.verify.thresholds.diagnosis import SAME_STEP_RTOL

if TYPE_CHECKING:
    from gradtool.verify.comparison.judgement import Judgement
    from gradtool.verify.subject import Subject

STRAIGHT_THROUGH = "a straight-through estimator"
SURROGATE = "a surrogate gradient"
REVERSAL = "gradient reversal"
ATTACHED = "a gradient attached to a value that was computed elsewhere"
RELEVANCE = "relevance propagation"

_MEANS_TO_PASS = re.compile(
    r"ste\b|STE|Ste(?![a-z])|[Ss]traight|[Ss]urrogate|[Pp]ass_?[Tt]hrough|[Ll]eaky|[Dd]econv"
    r"|[Rr]edirect"
)
"""Names of Functions whose gradient is meant to pass where the derivative is zero."""

_MEANS_TO_REPLACE = re.compile(r"[Rr]eplaced?_?(for|the)?_?[Gg]rad")
"""Names of Functions that return one argument, and give its gradient to another."""

SAYS_PASSED = re.compile(r"straight[- ]?through|\bSTE\b|gradient of (the )?identity", re.IGNORECASE)
"""What a docstring says of a gradient that is meant to pass."""

SAYS_RELEVANCE = re.compile(r"\bLRP\b|relevance[- ]propagation|deep taylor", re.IGNORECASE)
"""What a docstring says of a backward that explains the output instead of differentiating it."""


def surrogates(
    subject: Subject, judgement: Judgement, explained: Collection[int]
) -> dict[int, str]:
    """Name the surrogate of each argument whose gradient is meant to differ from the derivative.

    Where one of the wrong gradients, without those `explained` already, has no such explanation,
    only those are found that are the derivative with the identity in the place of rounding.
    """
    compared = [each for each in judgement.comparisons if each.argument not in explained]
    wrong = [each for each in compared if (each.decision == Decision.FAIL).any()]
    found = {each.argument: kind for each in wrong if (kind := _kind(subject, judgement.at, each))}
    steps = [each for each in compared if found.get(each.argument) in _OF_STEPS]
    steps += [each for each in compared if _is_staircase(each)]
    for each in wrong:
        scaled = [step for step in steps if _is_scale_of(judgement.at, each, step)]
        if each.argument not in found and scaled:
            found[scaled[0].argument] = STRAIGHT_THROUGH
            found[each.argument] = SURROGATE
    edges = [each for each in steps if found.get(each.argument) == SURROGATE]
    for each in wrong:
        if each.argument not in found and any(_is_other_side(each, edge) for edge in edges):
            found[each.argument] = SURROGATE
    for each in wrong:
        if each.argument not in found and edges and _is_soft_choice(each):
            found[each.argument] = SURROGATE
    for each in _gradients_first(wrong):
        if each.argument in found:
            continue
        beside = STRAIGHT_THROUGH in found.values()
        if is_straight_through(subject, judgement.at, each, may_vanish=beside):
            found[each.argument] = STRAIGHT_THROUGH
        elif is_documented_constant(subject, judgement.at, each):
            found[each.argument] = STOPPED
    ignored = [each.argument for each in wrong if each.argument not in found]
    if ignored and all(is_ignored(subject, judgement.at, argument) for argument in ignored):
        kind = _kind_of_ignored(subject, compared, found, len(ignored))
        found |= dict.fromkeys(ignored, kind) if kind else {}
    if {each.argument for each in wrong} <= found.keys():
        return found
    if SAYS_RELEVANCE.search(subject.function.docstrings):
        return dict.fromkeys((each.argument for each in wrong), RELEVANCE)
    through = [each for each in wrong if found.get(each.argument) == STRAIGHT_THROUGH]
    proven = [each for each in through if is_straight_through(subject, judgement.at, each)]
    return dict.fromkeys((each.argument for each in proven), STRAIGHT_THROUGH)


def _gradients_first(wrong: Collection[Comparison]) -> list[Comparison]:
    """The comparisons, those of gradients that are zero last: others may explain them."""
    return sorted(wrong, key=lambda each: not each.analytic.any())


_OF_STEPS = (STRAIGHT_THROUGH, SURROGATE)


def _kind_of_ignored(
    subject: Subject, compared: Collection[Comparison], found: Mapping[int, str], count: int
) -> str | None:
    """Name the gradients of arguments on which forward does not depend; None for a mistake.

    A learnt slope is one of the surrogate alone. Where forward depends on no argument that gets a
    gradient, a value and its gradient were computed elsewhere. Beside one that it depends on, only
    the name of the Function tells.
    """
    if any(kind in _OF_STEPS for kind in found.values()):
        return SURROGATE
    has_others = len(subject.function.arguments) > len(compared)
    is_attached = count == len(compared) and has_others
    return ATTACHED if is_attached or _MEANS_TO_REPLACE.search(subject.function.name) else None


def _kind(subject: Subject, at: Derivatives, comparison: Comparison) -> str | None:
    """Name the surrogate of one argument; None for a mistake."""
    failing = [
        rows
        for rows in comparison.layout.blocks()
        if (comparison.decision[rows] == Decision.FAIL).any()
    ]
    kinds = [
        _kind_of_block(subject, at, comparison, rows) or kind_of_stopped(subject, comparison, rows)
        for rows in failing
    ]
    named = [kind for kind in kinds if kind]
    others = [rows for kind, rows in zip(kinds, failing, strict=True) if not kind]
    if named and named[0] in _OF_STEPS and all(_is_beside(comparison, rows) for rows in others):
        return named[0]
    return named[0] if len(named) == len(kinds) and named else None


def _is_beside(comparison: Comparison, rows: slice) -> bool:
    """Return True for an output beside a step that carries its surrogate along, or no gradient.

    Such as the membrane that a spike resets, and the threshold that a quantizer returns.
    """
    return _is_diagonal(comparison, rows) or not comparison.analytic[rows].any()


def _kind_of_block(
    subject: Subject, at: Derivatives, comparison: Comparison, rows: slice
) -> str | None:
    analytic, numeric = comparison.analytic[rows], comparison.numeric.value[rows]
    # Steps may be too fine for the other slopes to be seen.
    if np.array_equal(analytic, np.eye(*analytic.shape)) and _is_on_moving_grid(
        at, comparison, rows
    ):
        return STRAIGHT_THROUGH
    if not (np.isfinite(analytic).all() and np.isfinite(numeric).all() and analytic.any()):
        return None
    allowed = comparison.allowed[rows]
    moved = np.any(np.abs(numeric) > allowed, axis=0)
    if not moved.any() or (
        np.median(moved) == 0 and is_still(subject, at, comparison.argument, moved, rows)
    ):
        return _kind_of_step(subject, at, comparison, rows)
    if not _is_diagonal(comparison, rows):
        return None
    own = np.diagonal(analytic)
    if (np.abs(numeric - np.eye(len(own))) <= allowed).all():
        is_identity = is_passed_on(subject, comparison.argument)
        return _kind_of_identity(own) if is_identity else None
    flat = np.diagonal(np.abs(numeric) <= allowed)
    if not (np.abs(numeric - np.diag(np.diagonal(numeric))) <= allowed).all():
        return None
    primal = at.primals[comparison.argument]
    return _kind_of_clamp(subject, at, primal, rows, own, np.diagonal(numeric), flat)


def _is_on_moving_grid(at: Derivatives, comparison: Comparison, rows: slice) -> bool:
    """Return True for an output of steps whose size depends on the input, such as its maximum.

    Outputs do not change within a step, so those of one size change in proportion to themselves.
    Where the only one is the maximum itself, it changes with it.
    """
    slopes = comparison.numeric.value[rows]
    results = at.layout.outputs.flatten(at.baseline.outputs)[rows]
    primal = np.ravel(at.primals[comparison.argument])
    if np.iscomplexobj(primal) or not _is_diagonal(comparison, rows):
        return False
    if (results * primal < 0).any():
        return False
    moved = np.abs(slopes) > comparison.allowed[rows]
    levels = 0
    for column in np.flatnonzero(moved.any(axis=0)):
        own = results[moved[:, column]]
        changes = slopes[moved[:, column], column]
        largest = np.argmax(np.abs(own))
        expected = own * (changes[largest] / own[largest]) if len(own) > 1 else 1.0
        if not (own.all() and np.allclose(changes, expected, rtol=SAME_STEP_RTOL)):
            return False
        levels = max(levels, len(np.unique(own)))
    return levels > 1


def _kind_of_step(
    subject: Subject, at: Derivatives, comparison: Comparison, rows: slice
) -> str | None:
    """Name the surrogate of a step; None where the output does not depend on the argument."""
    if not is_step(subject, at, comparison.argument, rows):
        return None
    if not _is_diagonal(comparison, rows):
        return SURROGATE
    passing = np.diagonal(comparison.analytic[rows])
    through = np.allclose(passing[passing != 0], 1.0, rtol=1e-9)
    return STRAIGHT_THROUGH if through else SURROGATE


def _kind_of_identity(own: FloatArray) -> str:
    if (own <= 0).all():
        return REVERSAL
    return "a masked gradient" if np.isin(own, (0.0, 1.0)).all() else "gradient scaling"


def _kind_of_clamp(
    subject: Subject,
    at: Derivatives,
    primal: Array,
    rows: slice,
    own: FloatArray,
    slopes: FloatArray,
    flat: BoolArray,
) -> str | None:
    """Name a clamp whose gradient passes; None for a mask that was forgotten.

    A mask needs something saved, and forgetting it is common where all that is cut off becomes
    zero. Otherwise, or under a name that says so, the gradient is meant to pass. So is one that
    fades away beyond the bounds.
    """
    inside = np.isclose(slopes, 1.0, rtol=1e-6)
    if not (flat | inside).all() or not np.allclose(own[inside], 1.0, rtol=1e-9):
        return None
    function = subject.function
    if _MEANS_TO_PASS.search(function.name) or SAYS_PASSED.search(function.docstrings):
        return f"{STRAIGHT_THROUGH} of a clamp"
    seen = at.baseline
    results = at.layout.outputs.flatten(seen.outputs)[rows]
    if not _is_clamp(primal, results, flat):
        return None
    if _fades(np.abs(np.ravel(primal) - results)[flat], own[flat]):
        return f"{SURROGATE} of a clamp"
    passes = (own == 1.0).all() and not (seen.saved or seen.kept_on_ctx)
    return f"{STRAIGHT_THROUGH} of a clamp" if passes else None


def _fades(distances: FloatArray, passing: FloatArray) -> bool:
    """Return True for gradients beyond a bound that grow smaller with the distance from it.

    No mistake gives such a formula: one that is forgotten passes the same everywhere.
    """
    order = np.argsort(distances)
    falls = np.diff(passing[order]) < 0
    return len(passing) > 1 and bool(falls.all() and (passing > 0).all() and (passing < 1).all())


def _is_clamp(primal: Array, results: Array, flat: BoolArray) -> bool:
    """Return True if `results` are `primal` within bounds, not all of which are zero."""
    own = np.ravel(primal)
    low, high = flat & (own < results), flat & (own > results)
    bounds = [np.unique(results[side]) for side in (low, high)]
    if not (low | high | ~flat).all() or any(len(each) > 1 for each in bounds):
        return False
    within = results[~flat]
    ordered = (bounds[0].max(initial=-np.inf) <= within) & (within <= bounds[1].min(initial=np.inf))
    is_bounded = bool(ordered.all()) and bool(np.concatenate(bounds).any())
    return is_bounded and np.array_equal(own[~flat], within)


def _is_diagonal(comparison: Comparison, rows: slice) -> bool:
    """Return True if each entry of an output has a gradient by its own entry of the input only."""
    block = comparison.analytic[rows]
    if comparison.layout.directions[comparison.argument] is not None:
        return False
    return block.shape[0] == block.shape[1] and np.array_equal(block, np.diag(np.diagonal(block)))


def _is_staircase(comparison: Comparison) -> bool:
    """Return True for a step too fine for a slope to be seen, with a gradient nevertheless."""
    seen = np.isfinite(comparison.numeric.value)
    flat = not comparison.numeric.value[seen].any() and not comparison.analytic[seen].any()
    return flat and not seen.all() and bool(comparison.analytic[~seen].any())


def _is_scale_of(at: Derivatives, comparison: Comparison, step: Comparison) -> bool:
    """Return True for the scale of a quantizer whose input has a straight-through estimator.

    With y = s round(x / s) and the gradient m taken for that of y by x, the gradient by s is
    dy/ds - m x / s, up to a constant factor (Esser et al., "Learned Step Size Quantization").
    """
    x = np.ravel(at.primals[step.argument])
    scale = np.ravel(at.primals[comparison.argument])
    wrong = comparison.analytic - comparison.numeric.value
    if not all(_is_diagonal(step, rows) for rows in step.layout.blocks()) or not scale.all():
        return False
    if len(step.layout.blocks()) > 1 or wrong.shape != (len(x), len(scale)):
        return False
    expected = -(x * np.diagonal(step.analytic))[:, None] / scale
    touched = np.abs(wrong) > comparison.allowed
    exact = np.isclose(wrong, expected, rtol=1e-6)[touched].all()
    return bool(exact) or _is_multiple(comparison, expected)


def _is_other_side(comparison: Comparison, edge: Comparison) -> bool:
    """Return True for a gradient that has, beside the derivative, the surrogate of an edge.

    An edge such as that of ``x > threshold`` moves as much with the one as against the other, so
    both surrogates add up to zero for each output.
    """
    added = comparison.analytic - comparison.numeric.value
    if not np.isfinite(added).all():
        return False
    own, other = added.sum(axis=1), edge.analytic.sum(axis=1)
    return bool(other.any()) and np.allclose(own, -other, rtol=1e-6, atol=1e-9)


def _is_soft_choice(comparison: Comparison) -> bool:
    """Return True for weights that add up to 1, in place of the choice of one entry.

    Beside scores whose largest one chooses, forward takes an entry and backward all of them, each
    with the softmax of its score.
    """
    analytic, numeric = comparison.analytic, comparison.numeric.value
    if comparison.layout.directions[comparison.argument] is not None:
        return False
    chosen = np.abs(numeric - 1.0) <= comparison.allowed
    is_one = (chosen | (np.abs(numeric) <= comparison.allowed)).all() and (chosen.sum(1) == 1).all()
    is_shared = (analytic >= 0).all() and np.allclose(analytic.sum(axis=1), 1.0, rtol=1e-6)
    return bool(is_one and is_shared)


def _is_multiple(comparison: Comparison, expected: FloatArray) -> bool:
    """Return True if the gradient is a constant times the one that the quantizer would have."""
    own = comparison.analytic
    full = np.where(own != 0, comparison.numeric.value + expected, 0.0)
    size = float(np.sum(full * full))
    factor = float(np.sum(full * own)) / size if size else 0.0
    return factor > 0 and bool(np.allclose(own, factor * full, rtol=1e-6, atol=1e-12))
