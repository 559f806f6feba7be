"""The tangent that jvp returns differs from the derivative of forward.

What it does
------------

Passes random tangents, for all inputs at once and for each alone, to the Function's own ``jvp`` and
compares the result with the derivative computed from evaluations of forward, within the tolerance
of GT101. A ``jvp`` that raises, or returns a wrong number or shape of tangents, violates this rule
too. A Function without ``jvp`` is not checked.

Why it matters
--------------

Forward mode calls ``jvp``, not ``backward``, in ``torch.func.jvp``, in ``jacfwd`` and in the outer
derivative of a forward-over-reverse Hessian. Nothing else tests it.

Wrong example
-------------

    from gradtool import Function


    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 3 * x**2

        @staticmethod
        def jvp(ctx, x_tangent):
            (x,) = ctx.saved_tensors
            return x_tangent * x**2

Right example
-------------

    from gradtool import Function


    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 3 * x**2

        @staticmethod
        def jvp(ctx, x_tangent):
            (x,) = ctx.saved_tensors
            return x_tangent * 3 * x**2

How to fix
----------

``jvp`` receives one tangent for each argument of forward, or None for an argument that has none,
and returns one for each output: the sum over the inputs of the derivative times the tangent. If
forward calls ``ctx.set_materialize_grads(False)``, a missing tangent is None; otherwise it is a
tensor of zeros.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html#forward-mode-ad
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from gradtool.results.report import Evidence, Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.evidence import scalar
from gradtool.verify.diagnosis.guesses import factor_words
from gradtool.verify.diagnosis.wrong_tangents import mistake_of_jvp
from gradtool.verify.rules._contract import RETURNS_GRADIENTS, RUNS
from gradtool.verify.rules._rule import (
    Answer,
    Flaw,
    Rule,
    failed,
    not_offered,
    passed,
    skipped,
    unverified,
)
from gradtool.verify.thresholds.rules import JVP_NEARLY, JVP_NEARLY_WHOLE, JVP_ROUNDED
from gradtool.verify.wording import apart

if TYPE_CHECKING:
    from gradtool.verify.comparison.forward_mode import JvpComparison
    from gradtool.verify.subject import Subject

NO_JVP = "no jvp"


def _check(subject: Subject) -> Answer:
    if not subject.function.defines_jvp:
        return not_offered(NO_JVP)
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    if _changes_what_it_gets(subject):
        return skipped("jvp changes its tensors in place")
    if subject.jvp_failure and subject.jvp_meets_gap:
        return unverified(subject.jvp_failure)
    if subject.jvp_failure:
        return failed(Flaw(message=subject.jvp_failure))
    if Decision.UNVERIFIED in (subject.given.worst, subject.withheld.worst):
        return unverified("the numeric derivative is not accurate enough")
    # The first alone: each is explained by a search of its own.
    first = next(_flaws(subject), None)
    return failed(first) if first else passed()


def _changes_what_it_gets(subject: Subject) -> bool:
    """Return True if GT503 or GT504 reports the mistake already."""
    seen, changed = subject.first.baseline, subject.changed_by_jvp
    mine = {*seen.mutated_arguments, *seen.declared_dirty}
    return bool({*changed.tangents, *changed.arguments} - mine or changed.outputs)


def _flaws(subject: Subject) -> Iterator[Flaw]:
    for found in subject.jvps:
        wrong = found.off & ~_is_rounded(found)
        if wrong.any():
            flaw = _flaw(found, wrong, _tangents_of(subject, found), _ratio(found))
            yield flaw if flaw.hint else _explained(subject, flaw)


def _is_rounded(found: JvpComparison) -> np.ndarray:
    """Entries that single precision in jvp explains, which GT302 reports."""
    off = np.abs(found.jvp - found.numeric)
    largest = found.size.max(initial=0.0)
    return np.asarray((off <= JVP_ROUNDED * largest) & (off <= JVP_NEARLY * found.size))


def _tangents_of(subject: Subject, found: JvpComparison) -> str:
    if found.only_argument is None:
        return "for a random tangent"
    return f"where only `{subject.function.arguments[found.only_argument].name}` has a tangent"


def _flaw(found: JvpComparison, wrong: np.ndarray, tangents: str, hint: str | None) -> Flaw:
    with np.errstate(all="ignore"):
        excess = np.abs(found.jvp - found.numeric) / found.allowed
    row = int(np.argmax(np.where(wrong, np.nan_to_num(excess, nan=np.inf), -1.0)))
    jvp, numeric = float(found.jvp[row]), float(found.numeric[row])
    shown = apart(jvp, numeric)
    return Flaw(
        message=f"jvp differs from the derivative of the outputs in {wrong.sum()} of {wrong.size} "
        f"entries, {tangents}; worst: analytic {shown[0]}, numeric {shown[1]}",
        hint=hint,
        evidence=Evidence(
            analytic=scalar(jvp),
            numeric=scalar(numeric),
            difference=scalar(abs(jvp - numeric)),
            tolerance=scalar(float(found.allowed[row])),
            wrong=int(wrong.sum()),
            compared=wrong.size,
        ),
    )


def _explained(subject: Subject, flaw: Flaw) -> Flaw:
    words = _of_arguments(subject)
    if words and _IS_WRONG not in words:
        return replace(flaw, hint=words)
    found = mistake_of_jvp(subject.function, subject.recorded, subject.given.at)
    if found is None:
        return replace(flaw, hint=words)
    return replace(flaw, hint=found.text, step=(found.path, found.line))


_IS_WRONG = "is wrong for"


def _ratio(found: JvpComparison) -> str | None:
    """Word a constant factor between the tangent and the right one, if there is one."""
    factor = _factor(found)
    if factor is None:
        return None
    if factor == 0:
        return "the tangent is zero"
    return f"the tangent is the derivative times {factor_words(factor)}"


def _of_arguments(subject: Subject) -> str | None:
    """Word what jvp does with the tangent of each argument that alone gives a wrong result."""
    alone = [
        (f"the tangent of `{subject.function.arguments[each.only_argument].name}`", each)
        for each in subject.jvps
        if each.only_argument is not None and each.off.any()
    ]
    words = [_with_tangent(tangent, _factor(each)) for tangent, each in alone]
    return f"jvp {', and '.join(words)}" if words else None


def _with_tangent(tangent: str, factor: float | None) -> str:
    if factor is None:
        return f"{_IS_WRONG} {tangent}"
    if factor == 0:
        return f"ignores {tangent}"
    if factor == -1:
        return f"gives {tangent} the wrong sign"
    return f"multiplies {tangent} by {factor_words(factor)}"


def _factor(found: JvpComparison) -> float | None:
    """The constant factor between the tangent and the right one; None if there is none."""
    usable = np.abs(found.numeric) > found.allowed
    if not usable.any():
        return None
    ratios = found.jvp[usable] / found.numeric[usable]
    factor = float(np.median(ratios))
    if not np.allclose(ratios, factor, rtol=1e-6, atol=1e-6) or not np.isfinite(factor):
        return None
    return float(np.round(factor)) if abs(factor - np.round(factor)) < JVP_NEARLY_WHOLE else factor


RULE = Rule(
    code="GT301",
    name="wrong-jvp",
    summary="The tangent that jvp returns differs from the derivative of forward.",
    severity=Severity.ERROR,
    page=__doc__,
    only_runner_of="jvp",
    blames=("jvp", "backward", "vjp", "forward"),
    proves="forward mode",
    premises=(*RUNS, *RETURNS_GRADIENTS),
    check=_check,
)
