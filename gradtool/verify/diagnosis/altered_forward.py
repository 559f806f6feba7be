"""The altered forward whose derivative a wrong backward returns.

A backward that is wrong is often right for another forward: one with another dim or sign, without
a term, or with a step left out that the derivative ought to go through. Forward is run with one
expression altered at a time, and the alteration whose gradients are what backward returned, for
several cotangents and points, names the mistake.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.diagnosis.looks import Explanation, Look, Looks
from gradtool.verify.diagnosis.patience import part_of_patience, patiently
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import Alteration
from gradtool.verify.thresholds.diagnosis import ALTERATIONS_MOST, ALTERATIONS_PART

_CHOICES = frozenset({"fmax", "fmin", "max", "maximum", "min", "minimum", "where"})
"""Functions whose result is one of their operands, entry by entry."""

_OF_A_FACTOR = frozenset({"held", "kept", "other", "turns", "unscaled", "exchanged", "swapped"})
"""Kinds of alterations by which a gradient may be off by a factor."""


def altered_forward(
    derivatives: Derivatives,
    recorded: Examinable | None,
    comparison: Comparison,
    name: str,
    *,
    is_factor: bool = False,
) -> Explanation | None:
    """The sentence that names the alteration; None if none explains the gradients.

    With `is_factor` the gradient is a multiple of the derivative.
    """
    if recorded is None or comparison.exact is None:
        return None
    looks = Looks(derivatives, (comparison.argument,))
    try:
        every = recorded.alterations(looks.first.primals)
        if is_factor:
            every = [made for made in every if _says_more(made, comparison)]
        with part_of_patience(ALTERATIONS_PART):
            made = _explaining(looks, recorded, every)
        if made is None:
            return None
        whole = Looks(derivatives, derivatives.inputs)
        explains_all = all(_holds(whole, look, recorded, made) for look in whole.others())
    except Exception:  # The user's code may raise anything at another point.
        return None
    return _explanation(made, "backward" if explains_all else f"the gradient of `{name}`")


def chosen_operand(
    derivatives: Derivatives, recorded: Examinable | None, comparison: Comparison, name: str
) -> Explanation | None:
    """The sentence that names the operand of a minimum or such whose gradient is zero.

    A gradient that is zero everywhere may be that of the one operand, as of what is clamped.
    """
    if recorded is None:
        return None
    looks = Looks(derivatives, (comparison.argument,))
    try:
        every = recorded.alterations(looks.first.primals)
        chosen = [made for made in every if _chooses_operand(made)]
        made = _explaining(looks, recorded, chosen)
    except Exception:  # The user's code may raise anything at another point.
        return None
    return None if made is None else _explanation(made, f"the gradient of `{name}`")


def _chooses_operand(made: Alteration) -> bool:
    match ast.parse(made.code, mode="eval").body if made.kind == "other" else None:
        case ast.Call(func=ast.Attribute(attr=name), args=operands) if name in _CHOICES:
            return made.other in map(ast.unparse, operands)
    return False


def altered_forward_of_jvp(looks: Looks, recorded: Examinable) -> Explanation | None:
    """The sentence that names the alteration whose tangents a wrong jvp returns."""
    made = _explaining(looks, recorded, recorded.alterations(looks.first.primals))
    return None if made is None else _explanation(made, "jvp")


def _explaining(
    looks: Looks, recorded: Examinable, alterations: Sequence[Alteration]
) -> Alteration | None:
    """The first alteration that explains what was returned at all looks."""
    fitting = _fitting(looks, recorded, alterations)
    for made in fitting:
        if all(_holds(looks, look, recorded, made) for look in looks.others()):
            return None if _is_by_chance(made, fitting) else made
    return None


def _is_by_chance(made: Alteration, others: Iterator[Alteration]) -> bool:
    """Return True for a factor that is as large as another variable: neither may be meant."""
    return made.kind in {"times", "over"} and any(
        (other.kind, other.code, other.line) == (made.kind, made.code, made.line)
        and other.other.isidentifier()
        and other.other != made.other
        for other in others
    )


def _explanation(made: Alteration, who: str) -> Explanation:
    # One variable in the place of another is plainer than two that change places.
    return Explanation(_words(made, who), made.path, made.line, made.kind != "swapped")


def _says_more(made: Alteration, comparison: Comparison) -> bool:
    """Return True if the alteration says more of a gradient than by which factor it is off."""
    if made.kind in {"times", "over"}:
        return made.other.isidentifier()
    # A half is left of a square without its 2 more often than of a sum of two entries.
    return made.kind in _OF_A_FACTOR and not (_is_mean_for_sum(made) and _is_half(comparison))


def _is_mean_for_sum(made: Alteration) -> bool:
    return made.code != made.other == made.code.replace("sum(", "mean(")


def _is_half(comparison: Comparison) -> bool:
    exact, analytic = comparison.numeric.value, comparison.analytic
    entry = np.unravel_index(np.argmax(np.abs(exact)), exact.shape)
    return bool(np.isclose(analytic[entry], 0.5 * exact[entry]))


def _fitting(
    looks: Looks, recorded: Examinable, alterations: Sequence[Alteration]
) -> Iterator[Alteration]:
    """Yield the alterations that explain the gradients of the case itself."""
    look, tried = looks.first, alterations[:ALTERATIONS_MOST]
    found = recorded.altered(look.primals, look.cotangents, tried)
    for made, gradients in patiently(zip(tried, found, strict=True)):
        if looks.agree(look, gradients):
            yield made


def _holds(looks: Looks, look: Look, recorded: Examinable, made: Alteration) -> bool:
    (gradients,) = recorded.altered(look.primals, look.cotangents, [made])
    return looks.agree(look, gradients)


def _words(made: Alteration, who: str) -> str:
    place = f"`{made.code}` (line {made.line})"
    match made.kind:
        case "branch":
            return f"{who} is right for the branch of {place} that is not taken here"
        case "turns":
            turns = "iteration" if made.other == "1" else f"{made.other} iterations"
            return f"{who} differentiates only the last {turns} of the loop on line {made.line}"
        case "held":
            return f"{who} treats {made.other} in {place} as a constant"
        case "negated":
            return f"{who} has the wrong sign on the path through {made.other} in {place}"
        case "first":
            return f"{who} uses the first entries of `{made.other}` where forward has {place}"
        case "unscaled":
            return f"{who} passes the gradient of {place} to `{made.other}` without its factor"
        case "by_input":
            return f"{who} uses `{made.other}` where the derivative of {place} uses its result"
        case "transposed":
            return f"{who} uses the derivative of {place} where its transpose is needed"
        case "twice":
            return f"{who} counts one `{made.other}` in {place} twice and leaves out another"
        case "at":
            return f"{who} takes the derivative of {place} at {made.other}"
        case "times" | "over":
            verb = "multiplies" if made.kind == "times" else "divides"
            return f"{who} {verb} the path through {place} by `{made.other}`"
        case "weighed":
            return f"{who} weights the terms of {place} by their softmax over dim {made.other}"
        case "exchanged":
            return f"{who} swaps the two branches of {place}"
        case "by":
            return f"{who} takes the derivative of {place} with respect to {made.other}"
        case "saved":
            return f"{who} uses `{made.other}` where it needs {place}: did you save the wrong one?"
        case _:
            return f"{who} differentiates `{made.other}` where forward has {place}"
