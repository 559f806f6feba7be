"""Digits of gradients: those that few bits lose, and those that large numbers leave to chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gradtool.collect.checkable import Checkable
from gradtool.explore.observed import (
    exact_gradients,
    gradients_in_double,
    returned_gradients,
    returned_in_double,
)
from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.wording import wording
from gradtool.measure.summary import quantile
from gradtool.results.evidence import scalar
from gradtool.results.report import Evidence, Verdict
from gradtool.verify.examine import Outcome
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.observation import Array
from gradtool.verify.rules import RULES, Flaw, codes
from gradtool.verify.thresholds.comparison import DOUBLE_EPS

_FAR_OFF = 0.5
"""Difference, next to an entry of a gradient in few digits, that is a mistake."""

_LARGER = 8.0
"""Factor by which numbers of a variant are larger where roundings may be all that is left."""

_ROUNDINGS = (4, 12, 28)
"""Roundings by which all numbers are made larger."""

_PART_OF_ERROR = 0.03
"""Part of an error by which such roundings move a gradient that is wrong only by them."""

_FEW_DIGITS = 2e-5
"""Median error of a gradient from float16 or bfloat16, of which sums average some out."""

_HARDLY_ANY_DIGITS = 1e-3
"""The same where nothing tells how many digits the steps of forward leave."""

_NO_DIGITS = 0.02
"""Median error beyond that of any number of digits, as of a forward with random numbers."""

_MORE_ERROR = 30.0
"""Ratio of that error to the one of the steps of forward."""

_LEAST_WITH_DIGITS = 0.1
"""Size, next to the largest entry of such a gradient, from which on rounding leaves digits."""


def entry_far_off(found: Array | None, exact: Array | None) -> tuple[int, ...] | None:
    """Return the index of an entry that is wrong by more than its last digits, if there is one."""
    if found is None or exact is None or found.shape != exact.shape:
        return None
    sizes = np.abs(exact)
    has_digits = sizes > _LEAST_WITH_DIGITS * sizes.max(initial=0.0)
    is_off = has_digits & (np.abs(found - exact) > _FAR_OFF * sizes)
    places = np.argwhere(is_off)
    return tuple(map(int, places[0])) if len(places) else None


def _usual_error(found: Array | None, exact: Array | None) -> float:
    """The median relative error of the larger entries; 0 where nothing can be compared."""
    if found is None or exact is None or found.shape != exact.shape:
        return 0.0
    sizes = np.abs(exact)
    is_large = sizes > _LEAST_WITH_DIGITS * sizes.max(initial=0.0)
    errors = np.abs(found - exact)[is_large] / sizes[is_large]
    if not errors.size or not np.isfinite(errors).all():
        return 0.0
    # `np.median` imports `numpy.ma`, in each worker anew.
    return quantile(np.sort(errors).tolist(), 0.5)


def lost_digits(
    checkable: Checkable, point: Point, seed: int, *, beside_steps: bool = False
) -> Outcome | None:
    """Return GT601 where a gradient has no digits that float64 has; None elsewhere.

    With `beside_steps` only where the steps of forward in float32 have them, too.
    """
    exact = gradients_in_double(checkable, point, seed)
    recorded = exact_gradients(checkable, point, seed) if beside_steps and exact else {}
    for at, found in returned_gradients(checkable, point, seed).items():
        index = entry_far_off(found, exact.get(at))
        if entry_far_off(recorded.get(at), exact.get(at)) is not None:
            continue
        if index is not None and found.dtype == np.float32:  # Fewer digits are easily lost.
            name, dtype = point.names[at], found.dtype
            mine, other = scalar(found[index]), scalar(exact[at][index])
            place = f" at [{', '.join(map(str, index))}]" if index else ""
            flaw = Flaw(
                message=f"gradient of `{name}`{place} is {mine:g} in {dtype}, and {other:g} in "
                "float64: backward loses digits",
                hint="use a formula without a difference of nearly equal numbers, as a series",
                evidence=Evidence(argument=name, input_index=index, analytic=mine, numeric=other),
            )
            return Outcome(RULES[codes.LOSES_PRECISION], Verdict.FAIL, flaws=(flaw,))
    return None


def lost_beside_steps(checkable: Checkable, variant: Variant, seed: int) -> Outcome | None:
    """Return GT601 where a gradient in float32 has fewer digits than the steps of forward leave."""
    if variant.keeps_digits:
        return lost_digits(checkable, variant.point, seed, beside_steps=True)
    is_said = wording(checkable.obj).speaks_of_single_precision
    return _lost_most(checkable, variant.point, seed, np.inf if is_said else _NO_DIGITS)


def _lost_most(checkable: Checkable, point: Point, seed: int, most: float) -> Outcome | None:
    """Return GT601 where a gradient in float32 has an error as of float16 in most of its entries.

    None where the steps of forward in float32 leave as few digits, and for an error above `most`.
    If forward has no derivative, backward in float64 has the digits.
    """
    exact = gradients_in_double(checkable, point, seed)
    recorded = exact_gradients(checkable, point, seed) if exact else {}
    if not exact and most == np.inf:
        exact = returned_in_double(checkable, point, seed)
    few = _FEW_DIGITS if recorded else _HARDLY_ANY_DIGITS
    for at, found in returned_gradients(checkable, point, seed).items():
        error, own = (_usual_error(each, exact.get(at)) for each in (found, recorded.get(at)))
        if found.dtype == np.float32 and max(few, _MORE_ERROR * own) < error < most:
            name = point.names[at]
            flaw = Flaw(
                message=f"gradient of `{name}` in float32 has a relative error of {error:.1e} in "
                "half of its entries: backward computes in fewer digits",
                hint="save and compute in the dtype of the inputs",
                evidence=Evidence(argument=name),
            )
            return Outcome(RULES[codes.LOSES_PRECISION], Verdict.FAIL, flaws=(flaw,))
    return None


def is_left_to_chance(
    checkable: Checkable, case: Point, point: Point, outcome: Outcome, seed: int
) -> bool:
    """Return True for a wrong gradient that some roundings of the arguments move as far.

    They do where numbers are large, and in few digits where rounding decides a comparison.

    Args:
        checkable: The Function.
        case: The arguments of the case.
        point: Those at which the gradient is wrong.
        outcome: The finding about it.
        seed: That of the cotangents.
    """
    evidence = [flaw.evidence for flaw in outcome.flaws]
    if None in evidence:
        return False
    eps = max((epsilon(array.dtype) for _, array in point.continuous()), default=0.0)
    if eps <= DOUBLE_EPS and not _is_larger(case, point):
        return False
    moved = [_moved(point, roundings * eps) for roundings in _ROUNDINGS]
    runs = [returned_gradients(checkable, each, seed) for each in (point, *moved)]
    return all(each is not None and _is_chance(each, point, runs) for each in evidence)


def _is_larger(case: Point, point: Point) -> bool:
    sizes = [
        [np.abs(array).max(initial=0.0) for _, array in each.continuous()] for each in (case, point)
    ]
    return any(after > _LARGER * before > 0 for before, after in zip(*sizes, strict=False))


def _moved(point: Point, part: float) -> Point:
    """The point with all numbers larger by a small part, of which the same ones are equal."""
    numbers = {at: each for at in point.plain if type(each := point.values[at]) is float}
    arrays = {at: (array * (1 + part)).astype(array.dtype) for at, array in point.continuous()}
    return point.having({**arrays, **{at: each * (1 + part) for at, each in numbers.items()}})


def _is_chance(evidence: Evidence, point: Point, runs: Sequence[Mapping[int, Array]]) -> bool:
    """Return True if an entry of a gradient moves as far as it is wrong."""
    at = point.names.index(evidence.argument)
    entries = [run[at][evidence.input_index] for run in runs if at in run]
    if len(entries) < len(runs):
        return False
    return bool(np.ptp(np.abs(entries)) > _PART_OF_ERROR * float(evidence.difference or 0))
