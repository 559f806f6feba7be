"""The smallest edit of backward that makes it right.

Where no alteration of forward explains a gradient, backward is run with one expression replaced at
a time: another variable, sign, operand or method, a transpose, a factor. The first edit with which
it returns the exact gradients, for several cotangents and points, is likely the mistake undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.diagnosis.looks import Explanation, Look, Looks, repair_in_words
from gradtool.verify.diagnosis.measured_gradients import MeasuredGradients
from gradtool.verify.diagnosis.patience import patiently
from gradtool.verify.diagnosis.wrong_masks import wrong_mask
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import Array, Repair
from gradtool.verify.thresholds.diagnosis import (
    APPROXIMATION_GAIN,
    FITTED_CHANGE,
    FITTED_ENTRIES,
    FITTED_REST,
    MENDING_MOST,
    REPAIRS_MOST,
)
from gradtool.verify.thresholds.edits import NUDGE


class Repairs:
    """The edits of a backward, tried in turn at the case, each once for all of its arguments.

    Args:
        function: The Function.
        recorded: Its forward, whose derivative is exact; None if it cannot be recorded.
        derivatives: The gradients that backward returned, and the exact ones.
    """

    def __init__(
        self, function: Examinable, recorded: Examinable | None, derivatives: Derivatives
    ) -> None:
        self._function, self._recorded, self._derivatives = function, recorded, derivatives
        self._tried: list[tuple[Repair, Sequence[Array | None] | None]] = []

    def explanation(
        self,
        comparison: Comparison,
        name: str,
        *,
        is_fraction: bool = False,
        derivatives: Derivatives | None = None,
    ) -> Explanation | None:
        """The sentence that names the edit; None if none makes the gradient right.

        An edit that makes all gradients right comes before one that does so for the argument alone.

        Args:
            comparison: The wrong gradient.
            name: The name of its argument.
            is_fraction: It is off by a factor that extents of the case may be by chance.
            derivatives: Where the edit has to hold, if not where `Looks` looks by itself.
        """
        try:
            if self._recorded is None or comparison.exact is None:
                return self._by_numbers(comparison, name)
            chosen = derivatives or self._derivatives
            alone, whole = (Looks(chosen, each) for each in ((comparison.argument,), chosen.inputs))
            return self._found(self._recorded, alone, whole, name, is_fraction)
        except Exception:  # The user's code may raise anything at another point.
            return None

    def _found(
        self, recorded: Examinable, alone: Looks, whole: Looks, name: str, is_fraction: bool
    ) -> Explanation | None:
        first = _exact(recorded, alone.first)
        if not alone.flat(first.returned).any():
            return None  # Any factor that happens to be zero makes a gradient zero.
        if alone.agree(alone.first, first.returned):
            return None  # All edits that change nothing would do.
        found: Explanation | None = None
        for made, gradients in self._at_case(first):
            is_left = made.opens is not None or (is_fraction and made.is_factor)
            if is_left or not alone.agree(first, gradients):
                continue
            others = [_exact(recorded, look) for look in alone.others()]
            if all(self._holds(whole, look, made) for look in (first, *others)):
                return repair_in_words(made, "backward")
            if not found and all(self._holds(alone, look, made) for look in others):
                found = repair_in_words(made, f"the gradient of `{name}`")
        found = found or self._fitted(alone, whole, first, name) or self._masked(alone, first, name)
        return found or self._approximation(alone, first, name) or self._part(alone, first, name)

    def _masked(self, looks: Looks, first: Look, name: str) -> Explanation | None:
        """The mask with which backward passes on the wrong entries."""
        (argument,) = looks.arguments
        if self._derivatives.primals[argument].dtype.kind == "c":
            return None
        made = [each for each, _ in self._tried if each.opens is not None]
        exact = [first, *(_exact(self._recorded, look) for look in looks.others())] if made else []

        def run(look: Look, chosen: Sequence[Repair]) -> Iterator[Sequence[Array | None] | None]:
            return self._function.repaired(look.primals, look.cotangents, chosen)

        # Of the last mask only one of the two may have been tried.
        pairs = zip(made[::2], made[1::2], strict=False)
        return wrong_mask(looks, exact, pairs, run, name)

    def _fitted(self, alone: Looks, whole: Looks, first: Look, name: str) -> Explanation | None:
        """The number close to one of backward with which the gradient is the exact one."""
        for nudge, gradients in self._tried:
            if nudge.nudged is None or gradients is None:
                continue
            vectors = map(alone.flat, (alone.first.returned, gradients, first.returned))
            number = _fitted_number(nudge.nudged, *vectors)
            if number is None:
                continue
            made = self._function.renumbered(nudge, number)
            looks = [first, *(_exact(self._recorded, look) for look in alone.others())]
            for who, chosen in (("backward", whole), (f"the gradient of `{name}`", alone)):
                if all(self._holds(chosen, look, made) for look in looks):
                    return repair_in_words(made, who)
        return None

    def _part(self, looks: Looks, first: Look, name: str) -> Explanation | None:
        """The edit that makes most of the wrong entries right, and none of the others wrong."""
        tried = [
            (mended, made)
            for made, gradients in self._tried
            if not made.is_factor and made.opens is None
            if gradients is not None and (mended := looks.mended(looks.first, first, gradients))
        ]
        for _, made in sorted(tried, key=lambda one: -one[0])[:MENDING_MOST]:
            if all(self._mends(looks, look, made) for look in looks.others()):
                found = repair_in_words(made, f"most of the gradient of `{name}`")
                return replace(found, text=f"{found.text}; the rest has a mistake of its own")
        return None

    def _mends(self, looks: Looks, look: Look, made: Repair) -> bool:
        exact = _exact(self._recorded, look)
        (gradients,) = self._function.repaired(look.primals, look.cotangents, [made])
        return gradients is not None and looks.mended(look, exact, gradients) > 0

    def _by_numbers(self, comparison: Comparison, name: str) -> Explanation | None:
        """The edit with which the gradient has the numeric value, where no exact one is known."""
        right = MeasuredGradients(self._derivatives, comparison)
        if not right.can_tell:
            return None
        who = "backward" if len(self._derivatives.inputs) == 1 else f"the gradient of `{name}`"
        for made, gradients in self._at_case(right.first):
            is_left = made.opens is not None or made.is_factor
            if is_left or not right.agree_at_first(gradients):
                continue
            if all(
                right.agree(
                    cotangent, *self._function.repaired(look.primals, look.cotangents, [made])
                )
                for cotangent, look in right.others()
            ):
                return repair_in_words(made, who)
        return None

    def _approximation(self, looks: Looks, first: Look, name: str) -> Explanation | None:
        """The number with which the gradient gets closer to the exact one, the further it goes."""
        scaled = [(made, gradients) for made, gradients in self._tried if made.scale]
        errors = {made: looks.error(first, gradients) for made, gradients in scaled if gradients}
        at_first = looks.error(first, looks.first.returned)
        for made, error in errors.items():
            further = [each for each in errors if _goes_further(each, made)]
            if error < APPROXIMATION_GAIN * at_first and any(
                errors[each] < APPROXIMATION_GAIN * error for each in further
            ):
                return self._closer(looks, made, name)
        return None

    def _closer(self, looks: Looks, made: Repair, name: str) -> Explanation | None:
        """The sentence that names the number, if it holds for other cotangents and points."""
        for look in looks.others():
            exact = _exact(self._recorded, look)
            (gradients,) = self._function.repaired(look.primals, look.cotangents, [made])
            if not gradients:
                return None
            if looks.error(exact, gradients) > APPROXIMATION_GAIN * looks.error(
                exact, look.returned
            ):
                return None
        text = f"the gradient of `{name}` is an approximation: it is closer to the derivative with"
        place = f"`{made.other}` in place of `{made.code}` (line {made.lines[0]})"
        return Explanation(f"{text} {place}", made.path, made.lines[0])

    def _at_case(self, look: Look) -> Iterator[tuple[Repair, Sequence[Array | None] | None]]:
        """Yield each edit with the gradients that it gives at the case."""
        yield from self._tried
        left = self._every[len(self._tried) :]
        found = self._function.repaired(look.primals, look.cotangents, left)
        for each in patiently(zip(left, found, strict=True)):
            self._tried.append(each)
            yield each

    @cached_property
    def _every(self) -> Sequence[Repair]:
        look = Looks(self._derivatives, self._derivatives.inputs).first
        return self._function.repairs(look.primals, look.cotangents, REPAIRS_MOST)

    def _holds(self, looks: Looks, look: Look, made: Repair) -> bool:
        (gradients,) = self._function.repaired(look.primals, look.cotangents, [made])
        return looks.agree(look, gradients)


def _fitted_number(
    number: float, returned: FloatArray, nudged: FloatArray, exact: FloatArray
) -> float | None:
    """The number with which a gradient that is linear in it is the exact one; None for others."""
    moved, error = nudged - returned, exact - returned
    if not np.isfinite(nudged).all() or np.count_nonzero(moved) < FITTED_ENTRIES:
        return None
    times = float(moved @ error / (moved @ moved))
    rest = np.abs(error - times * moved).max()
    is_near = abs(times * NUDGE) < FITTED_CHANGE
    is_linear = rest <= FITTED_REST * np.abs(error).max()
    return number * (1 + times * NUDGE) if is_near and is_linear else None


def _goes_further(one: Repair, other: Repair) -> bool:
    """Return True for the same number, made larger or smaller still."""
    is_same = (one.path, one.lines, one.code) == (other.path, other.lines, other.code)
    return is_same and bool(one.scale and other.scale and one.scale == other.scale**2)


def _exact(recorded: Examinable | None, look: Look) -> Look:
    """The look with the exact gradients in the place of those that backward returned."""
    if recorded is None:
        return look
    (gradients,) = recorded.vjps(look.primals, [look.cotangents])
    return Look(look.primals, look.cotangents, gradients)
