"""One variant tried: whether forward accepts it, and whether backward looks wrong there.

A trial is cheap: one cotangent, and the exact derivative of the recorded forward beside it. It
only raises a suspicion, which a full check of the variant confirms or drops.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import partial

import numpy as np

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.collect.checkable import Checkable
from gradtool.explore.point import Growth, Point, Variant
from gradtool.explore.slope import has_other_slope
from gradtool.explore.stale import stale_output
from gradtool.explore.ties import same_slope
from gradtool.results.report import Verdict
from gradtool.verify.examine import Outcome
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array, Cotangents, Observation
from gradtool.verify.randomness import generator, signed
from gradtool.verify.rules import RULES, Flaw, codes
from gradtool.verify.thresholds.comparison import DOUBLE_EPS

_RTOL = 1e-6
"""Relative difference of two gradients that needs no explanation."""

_ROUNDINGS = 1e-9
"""Difference, next to the largest entry of a gradient, that cancellation may leave."""

Shape = tuple[int, ...]

_LARGEST_USUAL = 64.0
"""Values beyond this saturate a softmax in float32. As at 0, a right gradient may be a quotient of
two zeros there."""

_LARGEST = 1e100
"""Outputs beyond this have left the range in which roundings are known."""


class Answer(Enum):
    """Outcome of a trial."""

    REFUSED = "refused"
    """Forward raises, warns or has no finite result or derivative."""
    RIGHT = "right"
    SUSPECT = "suspect"


@dataclass(frozen=True)
class Trial:
    """The outcome of one variant, and the calls of the user's code that it took."""

    answer: Answer
    calls: int


def attempt(checkable: Checkable, variant: Variant, seed: int) -> Trial:
    """Try one variant. What the user's code raises never passes."""
    with np.errstate(all="ignore"):
        observed = _observed(checkable, variant.point)
        if observed is None:
            return Trial(Answer.REFUSED, 1)
        if variant.along is not None:
            return _with_equal_entries(*observed, variant.along, seed)
        return _compared(checkable, *observed, variant, seed)


def _observed(
    checkable: Checkable, point: Point
) -> tuple[FunctionDifferentiable, Observation] | None:
    """One call of forward; None where it refuses the point."""
    try:
        function = _function(checkable, point)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            seen = function.call(function.primals)
    except Exception:  # The user's forward may raise anything.
        return None
    return None if seen.failure or not _is_meaningful(seen) else (function, seen)


def _is_meaningful(seen: Observation) -> bool:
    """Return True if all outputs are finite, and one has a graph."""
    sizes = [
        np.abs(o).max(initial=0.0) for o in seen.outputs if o is not None and o.dtype.kind in "fc"
    ]
    return any(seen.output_requires_grad) and all(size < _LARGEST for size in sizes)


def _with_equal_entries(
    function: FunctionDifferentiable,
    seen: Observation,
    along: Mapping[int, Array],
    seed: int,
) -> Trial:
    """The trial of a variant with equal entries, at which there may be many gradients."""
    cotangents = cotangents_of(seen, seed)
    exact = _exact(function, cotangents)
    if exact is None:
        return Trial(Answer.REFUSED, 3)
    try:
        (found,) = function.vjps(function.primals, [cotangents])
    except Exception:  # The user's code may raise anything.
        return Trial(Answer.REFUSED, 5)
    directions = [along.get(each.position) for each in function.arguments]
    is_same = same_slope(directions, found, exact)
    return Trial(Answer.RIGHT if is_same else Answer.SUSPECT, 5)


def stale(checkable: Checkable, case: Point, variant: Variant) -> Outcome | None:
    """GT111 where a cache gives a call at `variant` what the case computed; None elsewhere."""
    try:
        output = stale_output(checkable, case, variant.point)
    except Exception:  # The user's forward may raise anything.
        return None
    if output is None:
        return None
    flaw = Flaw(
        message=f"output {output} of forward was cached by an earlier call with other arguments",
        hint="include in the cache key everything that the cached value depends on",
    )
    return Outcome(RULES[codes.CALLS_INTERFERE], Verdict.FAIL, flaws=(flaw,))


def _compared(
    checkable: Checkable,
    function: FunctionDifferentiable,
    seen: Observation,
    variant: Variant,
    seed: int,
) -> Trial:
    cotangents = cotangents_of(seen, seed)
    exact = _exact(function, cotangents)
    if exact is None:
        return _measured(function, cotangents, seed)
    wanted = [each.differentiable for each in function.arguments]
    try:
        (found,) = function.vjps(function.primals, [cotangents])
    except Exception as error:  # So may backward.
        is_mistake = _raises_by_mistake(checkable, variant, seen, error) and not any(
            map(_has_ignored_part, exact)
        )
        return Trial(Answer.SUSPECT if is_mistake else Answer.REFUSED, 6)
    if variant.may_lack is not None and not _has_gradient(function, found, variant.may_lack):
        return Trial(Answer.REFUSED, 5)
    if variant.may_be_outside and not all(map(_is_finite, found)):
        return Trial(Answer.REFUSED, 5)
    if variant.only_finite and all(map(_is_finite, found)):
        return Trial(Answer.RIGHT, 5)
    is_usual = variant.only_finite or _is_usual(variant.point)
    differs = any(
        _differs(mine, other, is_usual=is_usual)
        for mine, other, is_wanted in zip(found, exact, wanted, strict=True)
        if is_wanted
    )
    return Trial(Answer.SUSPECT if differs else Answer.RIGHT, 5)


def _measured(function: FunctionDifferentiable, cotangents: Cotangents, seed: int) -> Trial:
    """The trial of a variant at which only evaluations show the derivative."""
    try:
        (found,) = function.vjps(function.primals, [cotangents])
        if not all(map(_is_finite, found)):
            return Trial(Answer.REFUSED, 5)
        differs = has_other_slope(function, cotangents, found, seed)
    except Exception:  # The user's code may raise anything.
        return Trial(Answer.REFUSED, 9)
    return Trial(Answer.SUSPECT if differs else Answer.RIGHT, 9)


def _has_gradient(
    function: FunctionDifferentiable, found: Sequence[Array | None], position: int
) -> bool:
    gradients = zip(function.arguments, found, strict=True)
    return any(each.position == position and gradient is not None for each, gradient in gradients)


def exact_gradients(checkable: Checkable, point: Point, seed: int) -> dict[int, Array]:
    """The exact gradients at a point, by the position of the argument; empty if there are none."""
    observed = _observed(checkable, point)
    if observed is None:
        return {}
    function, seen = observed
    found = _exact(function, cotangents_of(seen, seed))
    if found is None:
        return {}
    places = [each.position for each in function.arguments]
    return {
        at: gradient for at, gradient in zip(places, found, strict=True) if gradient is not None
    }


def _exact(
    function: FunctionDifferentiable, cotangents: Cotangents
) -> Sequence[Array | None] | None:
    """The gradients of the recorded forward; None where they are not known or not finite."""
    recorded = function.recorded()
    try:
        (exact,) = recorded.vjps(function.primals, [cotangents])
    except Exception:  # A step of forward may have no derivative here.
        return None
    return exact if not recorded.cuts and all(map(_is_finite, exact)) else None


def _raises_by_mistake(
    checkable: Checkable, variant: Variant, seen: Observation, error: Exception
) -> bool:
    """Return True if backward has no excuse to raise where forward does not."""
    if variant.may_raise or isinstance(error, NotImplementedError | AssertionError):
        return False
    return variant.growth is None or _follows(checkable, variant.growth, seen)


def _follows(checkable: Checkable, growth: Growth, seen: Observation) -> bool:
    """Return True if the outputs grow with the extent as they do from the case to its double.

    Where an extent has to be a multiple of something and is none, broadcasting or a slice that
    ends early may let forward return something nevertheless.
    """
    try:
        case, doubled = (_output_shapes(checkable, p) for p in (growth.case, growth.doubled))
    except Exception:  # The user's forward may refuse the double.
        return False
    found = [None if output is None else output.shape for output in seen.outputs]
    if len({len(case), len(doubled), len(found)}) > 1:
        return False
    part = Fraction(growth.after - growth.before, growth.before)
    return all(map(partial(_is_on_line, part), case, doubled, found))


def _is_on_line(part: Fraction, one: Shape | None, two: Shape | None, found: Shape | None) -> bool:
    """Return True if each extent of `found` has made `part` of the way from `one` to `two`."""
    if one is None or two is None or found is None:
        return one is two is found
    if not len(one) == len(two) == len(found):
        return False
    return all(c == a + (b - a) * part for a, b, c in zip(one, two, found, strict=True))


def _has_ignored_part(exact: Array | None) -> bool:
    """Return True if some slice of an argument has no influence: forward may have left it out."""
    if exact is None:
        return False
    return any(
        not np.moveaxis(exact, axis, 0).reshape(extent, -1).any(axis=1).all()
        for axis, extent in enumerate(exact.shape)
    )


def _output_shapes(checkable: Checkable, point: Point) -> list[Shape | None]:
    function = _function(checkable, point)
    return [None if out is None else out.shape for out in function.evaluate(function.primals)]


def _function(checkable: Checkable, point: Point) -> FunctionDifferentiable:
    args, kwargs = point.call()
    return FunctionDifferentiable(checkable.obj, args, kwargs, name=checkable.name)


def cotangents_of(seen: Observation, seed: int) -> Cotangents:
    """A cotangent of ones of either sign for each output that has a graph."""
    rng = generator(seed, "explored")
    return [
        signed(rng, output.shape).astype(output.dtype)
        if output is not None and is_continuous(output.dtype) and wanted
        else None
        for output, wanted in zip(seen.outputs, seen.output_requires_grad, strict=True)
    ]


def _is_finite(gradient: Array | None) -> bool:
    return gradient is None or bool((np.abs(gradient) < _LARGEST).all())


def _is_usual(point: Point) -> bool:
    """Return True for values at which a gradient has no excuse not to be finite."""
    sizes = [np.abs(array) for at, array in point.continuous() if at in point.tracked]
    return all(bool(((size > 0) & (size <= _LARGEST_USUAL)).all()) for size in sizes)


def _differs(found: Array | None, exact: Array | None, *, is_usual: bool) -> bool:
    if found is None and exact is None:
        return False
    one, other = (
        np.zeros_like(each) if mine is None else mine
        for mine, each in ((found, exact), (exact, found))
    )
    if one.shape != other.shape:
        return True
    if not other.any():
        return False  # Of what moves in steps a gradient may be meant to be another's.
    if not _is_finite(one) and not is_usual:
        return False
    if np.finfo(one.dtype).eps > DOUBLE_EPS:
        return not _is_finite(one)  # In fewer digits cancellation is no mistake.
    size = np.abs(other)
    allowed = _RTOL * size + _ROUNDINGS * size.max(initial=0.0)
    return not bool((np.abs(one - other) <= allowed).all())
