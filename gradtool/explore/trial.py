"""One variant tried: whether forward accepts it, and whether backward looks wrong there.

A trial is cheap: one cotangent, and the exact derivative of the recorded forward beside it. It
only raises a suspicion, which a full check of the variant confirms or drops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import msgspec
import numpy as np
from msgspec import structs

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.common.started_call import StartedCall
from gradtool.collect.checkable import Checkable
from gradtool.explore.digits import entry_far_off, lost_beside_steps
from gradtool.explore.excuses import (
    is_broadcast_inside,
    is_broadcast_otherwise,
    is_lost_in_broadcasting,
    is_shaped_otherwise,
    raises_by_mistake,
)
from gradtool.explore.observed import (
    LARGEST,
    AtCase,
    axes_of_one,
    cotangents_of,
    gradients_in_double,
    is_finite,
    observe,
    recorded_gradients,
    underflows,
)
from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.comparisons import guards_divisions
from gradtool.explore.reading.source import iterations
from gradtool.explore.reading.wording import wording
from gradtool.explore.slope import has_other_slope, has_slopes, is_smooth, jumps
from gradtool.explore.stale import caches_of, has_other_gradients, stale_output
from gradtool.explore.variants.ties import same_slope
from gradtool.results.report import Verdict
from gradtool.verify.examine import Outcome
from gradtool.verify.protocol.observation import Array, Cotangents
from gradtool.verify.rules import RULES, Flaw, codes
from gradtool.verify.thresholds.comparison import DOUBLE_EPS

_RTOL = 1e-6
"""Relative difference of two gradients that needs no explanation."""

_ROUNDINGS = 1e-9
"""Difference, next to the largest entry of a gradient, that cancellation may leave."""

_CASE_ROUNDINGS = 64 * DOUBLE_EPS
"""The same next to the gradients of the case: terms of their size may cancel."""

_LARGEST_USUAL = 64.0
"""Values beyond this saturate a softmax in float32. As at 0, a right gradient may be a quotient of
two zeros there, unless the documentation speaks of such values."""


_MEASURABLE = 1e5
"""Values up to which evaluations show a derivative where a step of forward overflows: products of
larger ones do, too."""

_NEAR_POLE = 1e6
"""Gradients at equal entries, next to those at the case, that a division by roundings gives."""

_POLE = 1e15
"""The same where forward itself is near a pole: what backward takes from it may have no digits."""


class Answer(Enum):
    """Outcome of a trial."""

    REFUSED = "refused"
    """Forward raises, warns or has no finite result or derivative."""
    RIGHT = "right"
    SUSPECT = "suspect"


class Trial(msgspec.Struct, frozen=True):
    """The outcome of one variant, and the calls to the user's code that it took."""

    answer: Answer
    calls: int
    wrong: frozenset[int] = frozenset()
    """The positions of the arguments without the gradient of the recorded forward, if known."""


def attempt(checkable: Checkable, variant: Variant, seed: int, at_case: AtCase) -> Trial:
    """Try one variant. What the user's code raises never passes.

    Args:
        checkable: The Function.
        variant: The variant of a case.
        seed: That of the cotangent.
        at_case: The gradients at the case.
    """
    iteration = iterations(checkable.obj)
    may_leave = iteration is not None and bool(iteration.brackets or variant.options)
    if wording(checkable.obj).has_domain or may_leave:
        # Whether a condition on what is computed from several arguments holds is not known, nor
        # whether a solution still lies where forward looks for it.
        variant = structs.replace(variant, may_be_outside=True)
    with np.errstate(all="ignore"):
        observed = observe(checkable, variant.point)
        if observed is None:
            return Trial(Answer.REFUSED, 1)
        if variant.along is not None:
            return _with_equal_entries(*observed, variant, variant.along, seed, at_case.usual)
        if _changes_argument(*observed, variant, at_case):
            return Trial(Answer.SUSPECT, 1)
        if variant.is_for_batches and not _has_shapes_of_arguments(*observed, seed):
            return Trial(Answer.REFUSED, 3)
        trial = _compared(checkable, *observed, variant, seed, at_case)
        is_outside = trial.answer is Answer.SUSPECT and (
            variant.is_for_batches
            or _is_broadcast_by_accident(checkable, variant, at_case)
            or underflows(checkable, variant.point)
        )
        return Trial(Answer.REFUSED, trial.calls) if is_outside else trial


def _is_broadcast_by_accident(checkable: Checkable, variant: Variant, at_case: AtCase) -> bool:
    """Return True where an axis became one that forward may broadcast against others by accident.

    It does not where a docstring says that the axis may be one.
    """
    return not variant.has_stated_shape and (
        is_broadcast_otherwise(checkable, variant.point, at_case.shapes)
        or is_broadcast_inside(checkable, variant.point, at_case.shapes)
    )


def _changes_argument(
    function: FunctionDifferentiable, started: StartedCall, variant: Variant, at_case: AtCase
) -> bool:
    """Return True if forward changes an argument in place that it may not.

    What has no gradient, as statistics, may change if it changes at the case as well, or if a flag
    asks for it.
    """
    if not started.seen.mutated_arguments:
        return False
    seen = function.call(function.primals)
    changed = set(seen.mutated_arguments) - set(seen.declared_dirty)
    is_new = not (at_case.changed or _has_other_choice(variant.point, at_case))
    return any(is_new or function.arguments[index].differentiable for index in changed)


def _has_other_choice(point: Point, at_case: AtCase) -> bool:
    """Return True if a flag, a word or None among the arguments is another than at the case."""
    here, there = (
        [each for each in values if each is None or isinstance(each, bool | str)]
        for values in ([point.values[at] for at in point.plain], at_case.options)
    )
    return here != there


def _has_shapes_of_arguments(
    function: FunctionDifferentiable, started: StartedCall, seed: int
) -> bool:
    """Return True if backward itself gives each gradient the shape of its argument.

    One that leaves this to autograd may not be meant for arguments that are broadcast.
    """
    raw = function.call(function.primals, cotangents_of(started.seen, seed)).raw
    gradients = [raw[each.position].value for each in function.arguments] if raw else []
    return all(
        gradient is None or gradient.shape == argument.shape
        for argument, gradient in zip(function.arguments, gradients, strict=False)
    )


def _with_equal_entries(
    function: FunctionDifferentiable,
    started: StartedCall,
    variant: Variant,
    along: Mapping[int, Array],
    seed: int,
    usual: float,
) -> Trial:
    """The trial of a variant with equal entries, at which there may be many gradients."""
    cotangents = cotangents_of(started.seen, seed)
    exact = recorded_gradients(function, cotangents)
    if exact is not None and _is_near_pole(exact, usual):
        return Trial(Answer.REFUSED, 3)
    try:
        found = started.gradients(cotangents)
    except Exception:  # The user's code may raise anything.
        return Trial(Answer.REFUSED, 5)
    if not all(map(is_finite, found)):
        is_inside = not variant.may_be_outside
        has_derivative = has_slopes if variant.has_common_point else is_smooth
        is_mistake = is_inside and has_derivative(function, cotangents, found, seed)
        return Trial(Answer.SUSPECT if is_mistake else Answer.REFUSED, 9)
    if exact is None:
        return Trial(Answer.REFUSED, 5)
    # Of what moves in steps a gradient may be meant to be another's.
    directions = [
        along.get(argument.position) if gradient is not None and gradient.any() else None
        for argument, gradient in zip(function.arguments, exact, strict=True)
    ]
    is_same = same_slope(directions, found, exact)
    return Trial(Answer.RIGHT if is_same else Answer.SUSPECT, 5)


def stale(checkable: Checkable, case: Point, variant: Variant, seed: int) -> Outcome | None:
    """Return GT111 where a cache gives one call what another computed; None elsewhere.

    The calls are those at the case and at `variant`.
    """
    try:
        caches = caches_of(checkable)
        if not caches:
            return None
        calls = case, variant.point
        output = stale_output(checkable, caches, *calls, may_update=variant.is_plain)
        is_overwritten = output is None and has_other_gradients(checkable, caches, *calls, seed)
    except Exception:  # The user's code may raise anything.
        return None
    if output is not None:
        message = f"output {output} of forward was cached by an earlier call with other arguments"
    elif is_overwritten:
        message = "a call with other arguments changes what backward reads from a cache"
    else:
        return None
    hint = "include in the cache key everything that the cached value depends on"
    flaw = Flaw(message=message, hint=hint)
    return Outcome(RULES[codes.CALLS_INTERFERE], Verdict.FAIL, flaws=(flaw,))


def _compared(
    checkable: Checkable,
    function: FunctionDifferentiable,
    started: StartedCall,
    variant: Variant,
    seed: int,
    at_case: AtCase,
) -> Trial:
    cotangents = cotangents_of(started.seen, seed)
    is_measured = variant.is_measured or not at_case.is_witness
    exact = None if is_measured else recorded_gradients(function, cotangents)
    if exact is None:
        if variant.keeps_most_digits and lost_beside_steps(checkable, variant, seed) is not None:
            return Trial(Answer.SUSPECT, 5)
        if at_case.surrogates:  # Evaluations show the slope of all gradients together.
            return Trial(Answer.REFUSED, 3)
        is_any = wording(checkable.obj).is_of_any_size and _is_below(variant.point, _MEASURABLE)
        if at_case.exact and not is_measured and not is_any and not is_near(variant.point):
            return Trial(Answer.REFUSED, 3)  # Steps that overflow show little by evaluations.
        return _measured(
            checkable, function, started, variant, seed, _CASE_ROUNDINGS * at_case.usual
        )
    compared = _Compared(checkable, function, started, variant, seed, at_case, cotangents, exact)
    try:
        found = started.gradients(cotangents)
    except Exception as error:  # So may backward.
        return Trial(compared.where_raised(error), 6)
    if started.changed_cotangents:
        return Trial(Answer.SUSPECT, 5)
    return compared.trial(found)


class _Compared(msgspec.Struct, frozen=True):
    """A variant with the gradients of the recorded forward, beside which others are looked at."""

    checkable: Checkable
    function: FunctionDifferentiable
    started: StartedCall
    variant: Variant
    seed: int
    at_case: AtCase
    cotangents: Cotangents
    exact: Sequence[Array | None]

    def trial(self, found: Sequence[Array | None]) -> Trial:
        """Return the answer of the first question that has one, else that of all entries."""
        for ask in (self._left_out, self._at_edge, self._only_finite, self._unfit, self._of_one):
            trial = ask(found)
            if trial is not None:
                return trial
        variant = self.variant
        is_usual = variant.only_finite or _is_usual(variant.point, self.checkable.obj)
        trial = self._infinite(found, is_usual)
        if trial is not None:
            return trial
        wrong = self._wrong(found, is_usual)
        if wrong and self._jumps():
            return Trial(Answer.REFUSED, 8)
        return Trial(Answer.SUSPECT if wrong else Answer.RIGHT, 5, wrong)

    def where_raised(self, error: Exception) -> Answer:
        """Return the answer where backward raised."""
        if is_shaped_otherwise(
            self.variant.point, self.started.seen, self.at_case.shapes, self.at_case.output_shapes
        ):
            return Answer.REFUSED
        exact = {
            each.position: gradient
            for each, gradient in zip(self.function.arguments, self.exact, strict=True)
            if each.differentiable
        }
        is_mistake = raises_by_mistake(
            self.checkable, self.variant, self.started.seen, error, exact, self.at_case.exact
        )
        return Answer.SUSPECT if is_mistake else Answer.REFUSED

    def _left_out(self, found: Sequence[Array | None]) -> Trial | None:
        lacked = self.variant.may_lack
        is_lacking = lacked is not None and not _has_gradient(self.function, found, lacked)
        is_outside = self.variant.may_be_outside and not all(map(is_finite, found))
        is_left = is_lacking or is_outside or _is_near_pole(self.exact, self.at_case.usual, _POLE)
        return Trial(Answer.REFUSED, 5) if is_left else None

    def _at_edge(self, found: Sequence[Array | None]) -> Trial | None:
        if not self.variant.is_at_edge:
            return None
        has_derivative = any(map(_lacks_number, found, self.exact))
        is_mistake = has_derivative and (
            self._is_smooth(found)
            # A quotient of zeros has no slope there, and forward gives it a value all the same.
            or (guards_divisions(self.checkable.obj) and self._jumps())
        )
        return Trial(Answer.SUSPECT if is_mistake else Answer.RIGHT, 9)

    def _only_finite(self, found: Sequence[Array | None]) -> Trial | None:
        variant = self.variant
        if variant.keeps_most_digits:
            is_off = lost_beside_steps(self.checkable, variant, self.seed) is not None
        elif not variant.only_finite or not all(map(is_finite, found)):
            return None
        else:
            is_off = variant.keeps_digits and self._is_far_off(found)
        return Trial(Answer.SUSPECT if is_off else Answer.RIGHT, 5)

    def _is_far_off(self, found: Sequence[Array | None]) -> bool:
        exact = gradients_in_double(self.checkable, self.variant.point, self.seed)
        arguments = zip(self.function.arguments, found, strict=True)
        pairs = ((mine, exact.get(each.position)) for each, mine in arguments)
        return any(entry_far_off(*pair) is not None for pair in pairs)

    def _unfit(self, found: Sequence[Array | None]) -> Trial | None:
        variant = self.variant
        must_fit = variant.is_plain or variant.growth is not None or not variant.may_raise
        if not must_fit or _fit(found, self.exact):
            return None
        # PyTorch refuses such a gradient, as if backward raised.
        return Trial(self.where_raised(ValueError()), 5)

    def _of_one(self, found: Sequence[Array | None]) -> Trial | None:
        """Leave out an only item that nothing depends on, as where a loss compares pairs."""
        if all(map(is_finite, found)) or not self._has_new_ones():
            return None
        if wording(self.checkable.obj).allows_one:
            return None
        is_flat = not any(np.any(each) for each in self.exact if each is not None)
        return Trial(Answer.REFUSED, 5) if is_flat else None

    def _has_new_ones(self) -> bool:
        """Return True where an extent is one that is larger at the case."""
        return not axes_of_one(self.variant.point) <= self.at_case.ones

    def _infinite(self, found: Sequence[Array | None], is_usual: bool) -> Trial | None:
        is_meant = _is_meant(self.checkable.obj, self.variant, is_usual)
        if not is_meant or all(map(is_finite, found)):
            return None
        is_mistake = not self.variant.may_be_outside and (
            any(map(_lacks_number, found, self.exact)) or self._is_smooth(found)
        )
        is_angle = _is_complex(self.variant.point) or not guards_divisions(self.checkable.obj)
        if is_mistake and is_angle and self._jumps():
            return Trial(Answer.REFUSED, 12)  # At zero, nothing has an angle.
        return Trial(Answer.SUSPECT if is_mistake else Answer.RIGHT, 9)

    def _jumps(self) -> bool:
        return jumps(self.function, self.cotangents, self.seed)

    def _is_smooth(self, found: Sequence[Array | None]) -> bool:
        return is_smooth(self.function, self.cotangents, found, self.seed)

    def _wrong(self, found: Sequence[Array | None], is_usual: bool) -> frozenset[int]:
        """The positions of the arguments whose gradient is not the exact one."""
        at_case, variant = self.at_case, self.variant
        floor = _CASE_ROUNDINGS * at_case.usual
        has_options_of_case = at_case.has_options_of(variant.point)
        # A flag or a word may ask for a surrogate, another number does not.
        has_choices_of_case = not _has_other_choice(variant.point, at_case)
        may_be_surrogate = not (variant.names_extents and has_options_of_case)
        may_broadcast = variant.names_extents and self._has_new_ones()
        return frozenset(
            argument.position
            for mine, other, argument in zip(
                found, self.exact, self.function.arguments, strict=True
            )
            if argument.differentiable
            and argument.name not in at_case.surrogates
            and _differs(
                mine,
                other,
                is_usual=is_usual,
                floor=floor,
                may_be_surrogate=may_be_surrogate
                and not (has_choices_of_case and _goes_on(mine, argument.position, at_case)),
            )
            and not (
                may_broadcast
                and is_lost_in_broadcasting(mine, other, at_case.exact.get(argument.position))
            )
        )


def _goes_on(gradient: Array | None, position: int, at_case: AtCase) -> bool:
    """Return True for a gradient of what moves forward at the case, that is more than roundings."""
    if gradient is None or not at_case.moves(position):
        return False
    return bool(np.abs(gradient).max(initial=0.0) > _RTOL * at_case.usual)


def _measured(
    checkable: Checkable,
    function: FunctionDifferentiable,
    started: StartedCall,
    variant: Variant,
    seed: int,
    floor: float,
) -> Trial:
    """The trial of a variant at which only evaluations show the derivative."""
    if _is_near_pole(started.seen.outputs, 1.0, _POLE):
        return Trial(Answer.REFUSED, 1)
    cotangents = cotangents_of(started.seen, seed)
    try:
        found = started.gradients(cotangents)
    except Exception as error:  # The user's code may raise anything.
        # Whether forward leaves out a part of a longer axis is not known here.
        is_mistake = variant.growth is None and raises_by_mistake(
            checkable, variant, started.seen, error, exact={}, at_case={}
        )
        return Trial(Answer.SUSPECT if is_mistake else Answer.REFUSED, 6)
    if started.changed_cotangents:
        return Trial(Answer.SUSPECT, 5)
    said = wording(checkable.obj)
    try:
        if all(map(is_finite, found)):
            claimed = _claimed(function, variant, found)
            differs = has_other_slope(
                function, cotangents, claimed, seed, floor, is_at_limit=variant.is_at_limit
            )
        elif variant.may_be_outside or (
            variant.names_extents and not (said.allows_one and axes_of_one(variant.point))
        ):
            differs = False
        elif is_near(variant.point):
            is_documented = said.allows_zero_rows and _has_zero_row(variant.point)
            differs = is_documented or is_smooth(function, cotangents, found, seed)
        else:
            # Beyond usual values PyTorch's own derivative of forward may be no number either.
            exact = recorded_gradients(function, cotangents) if not variant.is_measured else None
            if exact is not None:
                is_meant = said.is_stable or said.is_of_any_size
                differs = is_meant and any(map(_lacks_number, found, exact))
            else:
                differs = said.is_of_any_size and is_smooth(function, cotangents, found, seed)
    except Exception:  # The user's code may raise anything.
        return Trial(Answer.REFUSED, 9)
    return Trial(Answer.SUSPECT if differs else Answer.RIGHT, 9)


def _claimed(
    function: FunctionDifferentiable, variant: Variant, found: Sequence[Array | None]
) -> list[Array | None]:
    """The gradients, with zeros for None where an argument has to have one."""
    return [
        np.zeros_like(primal)
        if gradient is None and each.differentiable and each.position == variant.is_learned
        else gradient
        for gradient, each, primal in zip(found, function.arguments, function.primals, strict=True)
    ]


def _has_gradient(
    function: FunctionDifferentiable, found: Sequence[Array | None], position: int
) -> bool:
    gradients = zip(function.arguments, found, strict=True)
    return any(each.position == position and gradient is not None for each, gradient in gradients)


def _is_near_pole(values: Sequence[Array | None], usual: float, ratio: float = _NEAR_POLE) -> bool:
    """Return True for values so large that forward divides by what should be zero."""
    sizes = [float(np.abs(each).max(initial=0.0)) for each in values if each is not None]
    return bool(usual) and max(sizes, default=0.0) > ratio * usual


def _is_usual(point: Point, function: Any) -> bool:
    """Return True for values at which a gradient has no excuse not to be finite."""
    tracked = [array for at, array in point.continuous() if at in point.tracked]
    is_double = all(np.finfo(array.dtype).eps <= DOUBLE_EPS for array in tracked)
    said = wording(function)
    is_any = is_double and (said.is_of_any_size or said.cannot_overflow)
    largest = LARGEST if is_any else _LARGEST_USUAL
    return all(bool(((abs(each) > 0) & (abs(each) <= largest)).all()) for each in tracked)


def _is_meant(function: Any, variant: Variant, is_usual: bool) -> bool:
    """Return True for unusual values that a gradient has to be finite at all the same."""
    if is_usual:
        return False
    said = wording(function)
    return (
        said.is_of_any_size or said.is_stable or (is_near(variant.point) and not said.needs_nonzero)
    )


def _has_zero_row(point: Point) -> bool:
    """Return True if some row of what has a gradient is zero."""
    rows = (array for at, array in point.continuous() if at in point.tracked and array.ndim)
    return any(bool((~array.any(axis=-1)).any()) for array in rows)


def _is_complex(point: Point) -> bool:
    """Return True if a tensor with a gradient is complex."""
    return any(array.dtype.kind == "c" for at, array in point.arrays() if at in point.tracked)


def _lacks_number(found: Array | None, exact: Array | None) -> bool:
    """Return True for a gradient that is not finite where automatic differentiation's is."""
    if found is None or exact is None or found.shape != exact.shape:
        return False
    return bool((~np.isfinite(found) & np.isfinite(exact)).any())


def is_near(point: Point) -> bool:
    """Return True if no value is large, apart from marks that are infinite."""
    return _is_below(point, _LARGEST_USUAL)


def _is_below(point: Point, largest: float) -> bool:
    finite = (array[np.isfinite(array)] for _, array in point.continuous())
    return all(np.abs(array).max(initial=0.0) <= largest for array in finite)


def _fit(found: Sequence[Array | None], exact: Sequence[Array | None]) -> bool:
    """Return True if gradients have the shapes of the exact ones."""
    return all(
        mine is None or other is None or mine.shape == other.shape
        for mine, other in zip(found, exact, strict=True)
    )


def _differs(
    found: Array | None,
    exact: Array | None,
    *,
    is_usual: bool,
    floor: float,
    may_be_surrogate: bool,
) -> bool:
    if found is None and exact is None:
        return False
    one, other = (
        np.zeros_like(each) if mine is None else mine
        for mine, each in ((found, exact), (exact, found))
    )
    if one.shape != other.shape:
        return True
    if may_be_surrogate and not other.any():
        return False  # Of what moves in steps a gradient may be meant to be another's.
    if not is_finite(one) and not is_usual:
        return False
    if np.finfo(one.dtype).eps > DOUBLE_EPS:
        return not is_finite(one)  # In fewer digits cancellation is no mistake.
    size = np.abs(other)
    allowed = _RTOL * size + _ROUNDINGS * size.max(initial=0.0) + floor
    return not bool((np.abs(one - other) <= allowed).all())
