"""The search for arguments at which a straight-through estimator is not what it is at the cases.

A quantizer rounds, and its documented gradient is that of forward with the identity in the place of
rounding. Where that is what backward returns at every case, it has to be so at others: for numbers
beyond the range to which forward clamps, for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np
from msgspec import structs

from gradtool.adapters.common.through_rounding import as_identity
from gradtool.cases.sources import ResolvedCase
from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.explore.coverage import Branches
from gradtool.explore.excuses import has_same_outputs
from gradtool.explore.explorer import Discovered, confirmed
from gradtool.explore.families import Turns, kept_by, variants
from gradtool.explore.observed import (
    cotangents_of,
    observe,
    recorded_gradients,
    returned_gradients,
)
from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.source import draws_numbers
from gradtool.explore.shrink import shrunk
from gradtool.explore.traits import alternating
from gradtool.explore.variants.plain import with_defaults
from gradtool.results.report import Verdict
from gradtool.verify.examine import Outcome
from gradtool.verify.protocol.observation import Array
from gradtool.verify.rules import RULES, Flaw, codes
from gradtool.verify.thresholds.comparison import DOUBLE_EPS

_MOST_TRIED = {"quick": 60, "deep": 600}
"""Variants of all cases."""

_NUDGE = 1e-3
"""Part of itself by which a number is moved away from the end of a range."""

_RTOL = 1e-9
"""Difference of two gradients, next to the largest entry, that is rounding."""


Through = tuple[str, Array | None, Sequence[Array | None]]
"""An argument, its gradient, and those of forward through rounding."""

_HINT = (
    "at the case it is the derivative of forward with the identity in the place of rounding, as a "
    "docstring says, and here it is not"
)


def explore_surrogate(
    checkable: Checkable, cases: Sequence[ResolvedCase], settings: Settings
) -> list[Discovered]:
    """Find a variant of `cases` at which a straight-through estimator has another gradient.

    Nothing is found for a Function that is none at some case, or one that lets all of a gradient
    pass, which may be meant to do so wherever forward clamps. Nor for one with random numbers: with
    noise, what it rounds reaches the end of a range a step early or late.
    """
    if draws_numbers(checkable.obj):
        return []
    points = [Point.of(checkable, case, settings.device) for case in cases]
    pairs = list(zip(cases, points, strict=True))
    if any(_differing(checkable, at, case.seed) != [] for case, at in pairs):
        return []
    for case, variant in _suspects(checkable, pairs, settings):
        names = _differing(checkable, variant.point, case.seed) or []
        for outcome in confirmed(checkable, case, variant, [codes.WRONG_GRADIENT]):
            return [Discovered(case, variant, _about(names, outcome))]
        return [Discovered(case, variant, _by_itself(names))]
    return []


def _masked(checkable: Checkable, point: Point, seed: int) -> set[str]:
    """Return the arguments whose gradient is zero in places, as where a quantizer saturates."""
    found = returned_gradients(checkable, point, seed)
    return {
        point.names[at]
        for at, each in found.items()
        if each.size > 1 and not each.all() and each.any()
    }


def _by_itself(names: Sequence[str]) -> Outcome:
    """The outcome for arguments that have a surrogate, but another one than at the case."""
    flaws = [
        Flaw(message=f"gradient of `{name}` is not the derivative through rounding", hint=_HINT)
        for name in names
    ]
    return Outcome(RULES[codes.WRONG_GRADIENT], Verdict.FAIL, flaws=tuple(flaws))


def _about(names: Sequence[str], outcome: Outcome) -> Outcome:
    """The outcome for the arguments whose gradient is another one; the others have a surrogate."""
    flaws = [
        structs.replace(flaw, hint=_HINT)
        for flaw in outcome.flaws
        if flaw.evidence is not None and flaw.evidence.argument in names
    ]
    return structs.replace(outcome, flaws=tuple(flaws) or outcome.flaws)


def _suspects(
    checkable: Checkable, cases: Sequence[tuple[ResolvedCase, Point]], settings: Settings
) -> Iterator[tuple[ResolvedCase, Variant]]:
    """Yield variants at which the gradient is another one, as small as they can be.

    They wait until some gradient is zero where forward clamps: until then, all of it may be meant
    to pass everywhere.
    """
    is_masked = any(_masked(checkable, at, case.seed) for case, at in cases)
    waiting: list[tuple[ResolvedCase, Variant, Callable[[Variant], bool]]] = []
    for case, point in cases:

        def is_other(variant: Variant, seed: int = case.seed) -> bool:
            # Numbers at the very end of a range may count as inside or outside.
            beside = (variant.point, _nudged(variant.point))
            return all(_differing(checkable, each, seed) for each in beside)

        points = [each for _, each in cases]
        kept = kept_by(checkable, point, points)
        stream = variants(
            checkable, case, point, _limits(checkable, case, point), Turns(), points, kept
        )
        for variant in islice(stream, _MOST_TRIED[settings.explore] // len(cases)):
            is_tie = variant.along is not None
            if is_tie or not _is_double(variant.point):
                continue
            if is_other(variant) and not _changes_ignored(checkable, point, variant.point):
                waiting.append((case, variant, is_other))
            is_masked = is_masked or _is_zero_beyond(checkable, variant.point, case.seed)
            while is_masked and waiting:
                at, suspect, test = waiting.pop(0)
                yield at, shrunk(suspect, test)


def _limits(checkable: Checkable, case: ResolvedCase, point: Point) -> Branches:
    """The limits that forward and backward reach or might reach at a case."""
    found = Branches(checkable)
    found.run(point, case.seed)
    found.pause()
    return found


def _changes_ignored(checkable: Checkable, case: Point, other: Point) -> bool:
    """Return True if an argument differs that forward ignores: it may scale the gradient."""
    full = with_defaults(case, checkable.parameters())
    return any(
        has_same_outputs(checkable, full, full.having({at: other.values[at]}))
        for at in full.plain
        if at < len(other.values) and other.values[at] is not full.values[at]
    )


def _nudged(point: Point) -> Point:
    """The point with each number that has a gradient a little larger or smaller.

    Each tensor moves by another part of itself, so that quotients of their entries move too.
    """
    changed = {}
    for number, at in enumerate(sorted(point.tracked), start=1):
        array = point.values[at]
        turns = alternating(array, -1.0, 1.0)
        changed[at] = array * (1 + _NUDGE / number * turns)
    return point.having(changed)


def _is_double(point: Point) -> bool:
    """Return True for numbers whose roundings cannot pass for those of a quantizer."""
    return all(np.finfo(array.dtype).eps <= DOUBLE_EPS for _, array in point.continuous())


def _is_zero_beyond(checkable: Checkable, point: Point, seed: int) -> bool:
    """Return True if a gradient is zero in places where the one through rounding is, too."""
    for _, mine, others in _through_rounding(checkable, point, seed) or ():
        for other in others:
            if mine is None or other is None or mine.shape != other.shape:
                continue
            if other.any() and not mine[other == 0].all():
                return True
    return False


def _differing(checkable: Checkable, point: Point, seed: int) -> list[str] | None:
    """The arguments for which backward does not take rounding for the identity.

    None where that is not known.
    """
    found = _through_rounding(checkable, point, seed)
    if found is None:
        return None
    return [name for name, mine, others in found if not _is_one_of(mine, others)]


def _through_rounding(checkable: Checkable, point: Point, seed: int) -> list[Through] | None:
    """The gradients of each argument, and those with the identity in the place of rounding.

    None where these are not known; no arguments where they are not the only ones.
    """
    seen = observe(checkable, point)
    if seen is None:
        return None
    function, started = seen
    cotangents = cotangents_of(started.seen, seed)
    ways = []
    try:
        found = started.gradients(cotangents)
        for begin in as_identity(function.evaluate, function.primals):
            with begin():
                ways.append(recorded_gradients(function, cotangents))
    except Exception:  # The user's code may raise anything.
        return None
    known = [way for way in ways if way is not None]
    if not known:
        return None
    if any(not _vanish_alike(each) for each in zip(*known, strict=True)):
        return []  # A number that is rounded across the end of a range may count as in or out.
    return [
        (argument.name, mine, others)
        for argument, mine, *others in zip(function.arguments, found, *known, strict=True)
    ]


def _vanish_alike(gradients: Sequence[Array | None]) -> bool:
    """Return True if the gradients of one argument are zero at the same entries."""
    first, *others = [each != 0 for each in gradients if each is not None] or [np.zeros(0)]
    return all(np.array_equal(first, each) for each in others)


def _is_one_of(found: Array | None, others: Sequence[Array | None]) -> bool:
    """Return True if each entry of a gradient is that of one of the others."""
    given = [each for each in others if each is not None]
    if found is None:
        return not any(each.any() for each in given)
    size = max((float(np.abs(each).max(initial=0.0)) for each in given), default=0.0)
    is_near = [np.abs(found - each) <= _RTOL * size for each in given if each.shape == found.shape]
    return bool(np.any(is_near, axis=0).all()) if is_near else not found.any()
