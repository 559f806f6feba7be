"""The step of forward whose share of the gradient backward got wrong.

The recorded forward gives the part of the gradient that flows through each of its steps: what is
missing when that step is held constant. If the difference between what backward returned and the
exact gradient is a multiple of one such part, that step explains the mistake: minus once if it was
taken for a constant, once more if it was counted twice. What explains one cotangent has to explain
another one too, and a point nearby.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.diagnosis.guesses import factor_words
from gradtool.verify.diagnosis.looks import Explanation, Look, Looks
from gradtool.verify.diagnosis.patience import patiently
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import Step
from gradtool.verify.thresholds.diagnosis import (
    EXPLAINED_FACTOR_DIFFERENCE,
    EXPLAINED_LEAST,
    FACTOR_EXACT,
    PLAIN_FACTORS,
    STEPS_IN_PAIRS,
    STEPS_MOST,
)


class _Share(msgspec.Struct, frozen=True):
    """Steps whose part of the gradient is off by a factor."""

    steps: tuple[Step, ...]
    factor: float
    cut: tuple[Step, ...]
    """What is held constant to see that part."""


def forgotten_step(
    derivatives: Derivatives, recorded: Examinable | None, comparison: Comparison, name: str
) -> Explanation | None:
    """The sentence that names the step; None if none explains the gradients."""
    return _named(derivatives, recorded, comparison, "backward", f"the gradient of `{name}`")


def is_held_constant(
    derivatives: Derivatives, recorded: Examinable | None, comparison: Comparison
) -> bool:
    """Return True if a gradient is that of a forward in which the result of a step is constant."""
    if recorded is None or comparison.exact is None:
        return False
    try:
        found = _Search(Looks(derivatives, (comparison.argument,)), recorded).run()
    except Exception:  # The user's code may raise anything at another point.
        return False
    return found is not None and found.factor == -1.0


def forgotten_step_of_backward(
    derivatives: Derivatives, recorded: Examinable, comparison: Comparison, name: str
) -> Explanation | None:
    """The sentence that names the step of backward whose derivative double backward got wrong.

    Args:
        derivatives: The second derivatives.
        recorded: The map from primals and cotangents to gradients, by the steps of backward.
        comparison: The wrong second derivative by one argument.
        name: The name of the argument.
    """
    try:
        if not _is_exact(derivatives, recorded):
            return None
    except Exception:  # Backward may do what cannot be differentiated step by step.
        return None
    who = "double backward", f"the derivative with respect to `{name}`"
    return _named(derivatives, recorded, comparison, *who)


def forgotten_step_of_jvp(looks: Looks, recorded: Examinable) -> Explanation | None:
    """The sentence that names the step of forward whose tangent jvp got wrong."""
    found = _Search(looks, recorded).run()
    return _explanation("jvp", found) if found else None


def _is_exact(derivatives: Derivatives, recorded: Examinable) -> bool:
    """Return True if the steps of backward have the derivatives that those of forward imply."""
    looks, implied = Looks(derivatives, derivatives.inputs), derivatives.recorded
    if implied is None:
        return False
    primals, cotangents = looks.first.primals, looks.first.cotangents
    one, other = (looks.flat(each.vjps(primals, [cotangents])[0]) for each in (implied, recorded))
    scale = np.abs(one).max(initial=0.0)
    return bool(np.abs(one - other).max(initial=0.0) <= looks.precision * scale)


def _named(
    derivatives: Derivatives,
    recorded: Examinable | None,
    comparison: Comparison,
    every: str,
    only: str,
) -> Explanation | None:
    """The sentence about `every` gradient, if one step explains them all, or about `only` one."""
    if recorded is None or comparison.exact is None:
        return None
    try:
        found = None
        if all(derivatives.comparison(each).exact is not None for each in derivatives.inputs):
            found = _Search(Looks(derivatives, derivatives.inputs), recorded).run()
        if found:
            return _explanation(every, found)
        found = _Search(Looks(derivatives, (comparison.argument,)), recorded).run()
    except Exception:  # The user's code may raise anything at another point.
        return None
    return _explanation(only, found) if found else None


def _explanation(who: str, found: _Share) -> Explanation:
    step = found.steps[-1]
    text = f"{who} {_words(found)}"
    is_of_source = all(each.is_of_source for each in found.steps)
    is_plain = len(found.steps) == 1 and found.factor in PLAIN_FACTORS and is_of_source
    return Explanation(text, step.path, step.line, is_plain)


class _Search:
    """Search for a step that explains the gradients of some arguments."""

    def __init__(self, looks: Looks, recorded: Examinable) -> None:
        self._recorded = recorded
        self._looks = looks
        self._precision = self._looks.precision

    def run(self) -> _Share | None:
        """The simplest explanation that holds everywhere."""
        for found in sorted(self._candidates(self._looks.first), key=_rank):
            if all(self._holds(found, other) for other in self._looks.others()):
                return found
        return None

    def _candidates(self, look: Look) -> Iterator[_Share]:
        steps = self._recorded.steps(look.primals)[:STEPS_MOST]
        exact, parts = self._parts(look, [(step,) for step in steps])
        alone = dict(zip(steps, parts, strict=False))
        yield from self._fitting(look, exact, [((step,), (step,)) for step in steps], parts)
        # The largest entry that softmax subtracts has no gradient, until another step is constant.
        floor = self._precision * np.abs(exact).max(initial=0.0)
        idle = [s for s, part in alone.items() if not s.operand and np.abs(part).max() <= floor]
        wrong = self._looks.returned(look) - exact
        pairs = [*_pairs(steps), *_sums(wrong, alone, floor)]
        more = [((s,), (s, *idle)) for s in steps if idle] + [(pair, pair) for pair in pairs]
        _, parts = self._parts(look, [cut for _, cut in more])
        for found in self._fitting(look, exact, more, parts):
            if found.factor == -1.0:
                yield found

    def _parts(
        self, look: Look, cuts: Sequence[tuple[Step, ...]]
    ) -> tuple[FloatArray, list[FloatArray]]:
        """The exact gradient, and the part of it that flows through each of the first `cuts`."""
        found = self._recorded.without(look.primals, look.cotangents, [(), *cuts])
        exact, *without = (self._looks.flat(each, look.primals) for each in patiently(found))
        return exact, [exact - each for each in without]

    def _fitting(
        self,
        look: Look,
        exact: FloatArray,
        choices: Sequence[tuple[tuple[Step, ...], tuple[Step, ...]]],
        parts: Sequence[FloatArray],
    ) -> Iterator[_Share]:
        wrong = self._looks.returned(look) - exact
        for (steps, cut), part in zip(choices, parts, strict=False):
            factor = self._factor(wrong, part, exact)
            if factor is not None:
                yield _Share(steps, factor, cut)

    def _factor(self, wrong: FloatArray, part: FloatArray, exact: FloatArray) -> float | None:
        """The multiple of a part of the gradient that is wrong with it; None if it is none."""
        scale = max(float(np.abs(each).max(initial=0.0)) for each in (wrong, part, exact))
        floor = self._precision * scale
        # What is wrong must stand out from the rounding in which an explanation is sought.
        visible = floor / EXPLAINED_FACTOR_DIFFERENCE
        if not (np.abs(part).max() > visible and np.abs(wrong).max() > visible):
            return None
        factor = float(wrong @ part) / float(part @ part)
        if abs(factor - round(factor)) <= EXPLAINED_FACTOR_DIFFERENCE:
            factor = float(round(factor))
        # Any one number is a multiple of any other.
        is_short = int((np.abs(part) > visible).sum()) < EXPLAINED_LEAST
        if is_short and not _is_simple(factor):
            return None
        return factor if np.abs(wrong - factor * part).max() <= floor else None

    def _holds(self, found: _Share, look: Look) -> bool:
        exact, (part,) = self._parts(look, [found.cut])
        wrong = self._looks.returned(look) - exact
        factor = self._factor(wrong, part, exact)
        if factor is None:  # The part may be too small there to show its factor.
            scale = max(float(np.abs(each).max(initial=0.0)) for each in (wrong, part, exact))
            left = np.abs(wrong - found.factor * part).max(initial=0.0)
            return bool(left <= self._precision * scale)
        return abs(factor - found.factor) <= EXPLAINED_FACTOR_DIFFERENCE


def _is_simple(factor: float) -> bool:
    """Return True for a multiple of a half or a third."""
    multiples = (factor * part for part in (2, 3))
    return any(abs(each - round(each)) <= EXPLAINED_FACTOR_DIFFERENCE for each in multiples)


def _pairs(steps: Sequence[Step]) -> list[tuple[Step, ...]]:
    named = [step for step in steps if step.name and not step.operand][:STEPS_IN_PAIRS]
    return list(itertools.combinations(named, 2))


def _sums(
    wrong: FloatArray, parts: Mapping[Step, FloatArray], floor: float
) -> Iterator[tuple[Step, ...]]:
    """Yield the pairs of steps whose parts of the gradient, together, are missing from it."""
    if np.count_nonzero(np.abs(wrong) > floor) < EXPLAINED_LEAST:
        return
    seen = [(step, part) for step, part in parts.items() if floor < np.abs(part).max() < np.inf]
    rows = np.array([part for _, part in seen])
    for at, (step, part) in enumerate(seen):
        left = np.abs(rows[at + 1 :] + (part + wrong)).max(axis=1, initial=0.0)
        yield from ((step, seen[at + 1 + other][0]) for other in np.flatnonzero(left <= floor))


def _rank(found: _Share) -> tuple[int | bool, ...]:
    """Order by plainness: few steps that have names first."""
    kind = {-1.0: 0, 1.0: 1, -2.0: 1}.get(found.factor, 2)
    first, is_inner = found.steps[0], not all(each.is_of_source for each in found.steps)
    is_operand, is_unnamed = first.operand is not None, first.name is None
    return kind, len(found.steps), is_inner, is_operand, is_unnamed, len(found.cut)


def _words(found: _Share) -> str:
    if len(found.steps) > 1:
        # In the order of the source.
        places = [_place(each)[0] for each in reversed(found.steps)]
        return f"treats {' and '.join(places)} as constants"
    (step,), factor = found.steps, found.factor
    place, path = _place(step)
    if factor == -1.0:
        return f"treats {place} as a constant"
    if factor == 1.0:
        return f"counts {path} twice"
    if factor == -2.0:
        return f"has the wrong sign on {path}"
    times = 1 + factor
    missing = 1 / times
    if abs(missing) > 1 and abs(missing - round(missing, 2)) <= FACTOR_EXACT * abs(missing):
        return f"is missing the factor {missing:.6g} on {path}"
    return f"multiplies {path} by {factor_words(times)}"


def _place(step: Step) -> tuple[str, str]:
    """The step itself, and the path through it."""
    place = f"`{step.shown}` (line {step.line})"
    if step.operand is None:
        return place, f"the path through {place}"
    place = f"`{step.operand}` in `{step.code or step.shown}` (line {step.line})"
    return place, f"the path to {place}"
