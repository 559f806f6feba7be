"""The third derivative, through double backward, is wrong.

What it does
------------

Treats the second derivative as a function of its inputs and compares autograd's derivative of it
with a numeric one, if the second derivative is right. The rule is skipped, and the report says why,
if the inputs and outputs of the case have more than 40 entries in all, if autograd's third
derivative is NaN (as for a square root at zero), or if evaluations do not determine the derivative
well enough.

Why it matters
--------------

A backward that detaches what it saved, or calls another Function, can hide a mistake one order
deeper, while the gradient and its derivative are right. Curvature penalties and implicit
differentiation use that order.

Wrong example
-------------

    from gradtool import Function


    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            fixed = x.detach()
            return grad_output * 3 * fixed * (2 * x - fixed)

Right example
-------------

    from gradtool import Function


    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 3 * x * x

How to fix
----------

Look at what backward detaches, and at the Functions that it calls: their own backward must be
differentiable, or declared ``@once_differentiable``.

Reference
---------

https://pytorch.org/tutorials/intermediate/custom_function_double_backward_tutorial.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.evidence import evidence, find_worst
from gradtool.verify.oracle.steps import scales
from gradtool.verify.rules._judged import answer, nothing_to_differentiate
from gradtool.verify.rules._rule import Answer, Flaw, Rule, not_offered, passed, skipped
from gradtool.verify.thresholds.rules import THIRD_DERIVATIVE_MOST_ENTRIES
from gradtool.verify.wording import off

if TYPE_CHECKING:
    from gradtool.verify.comparison.judgement import Judgement
    from gradtool.verify.protocol.observation import Array
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    reason = nothing_to_differentiate(subject)
    if reason:
        return not_offered("no second derivative")
    if subject.second.function.declares_once_differentiable:
        return not_offered("no third derivative")
    if subject.surrogates:
        return skipped("the gradient is a surrogate")
    if subject.curvature.worst is not Decision.PASS:
        return skipped("the second derivative is not known to be right")
    layout = subject.first.layout
    if (
        layout.outputs.size + sum(layout.inputs[i].size for i in subject.first.inputs)
        > THIRD_DERIVATIVE_MOST_ENTRIES
    ):
        return skipped("too many entries")
    if not all(_has_room(subject.curvature.at.primals[i]) for i in subject.first.inputs):
        return skipped("the cube of an input overflows its dtype")
    if subject.third is None:
        return passed("the second derivative is constant")
    flaws = tuple(_flaws(subject))
    if not flaws and subject.third.worst in {Decision.UNVERIFIED, Decision.FAIL}:
        return skipped(_why_nothing_is_said(subject.third))
    return answer(subject.third, flaws)


def _has_room(primal: Array) -> bool:
    """Return True if terms of the third derivative neither overflow nor underflow on the way."""
    info, lengths = np.finfo(primal.dtype), scales(primal)
    with np.errstate(over="ignore", under="ignore"):
        cubes = lengths**3
    return bool(((cubes > info.tiny / info.eps) & (cubes < info.max * info.eps)).all())


def _why_nothing_is_said(third: Judgement) -> str:
    """Explain why no entry is wrong and yet not all are right."""
    undecided = (c.analytic[c.decision >= Decision.UNVERIFIED] for c in third.comparisons)
    analytic = np.concatenate(list(undecided))
    if np.isnan(analytic).any():
        return "the third derivative that autograd computes is not a number"
    if np.isinf(analytic).any():
        return "the third derivative that autograd computes is infinite"
    return "the third derivative is not accurate enough"


def _flaws(subject: Subject) -> Iterator[Flaw]:
    assert subject.third is not None
    for comparison in subject.third.comparisons:
        chosen = (comparison.decision == Decision.FAIL) & np.isfinite(comparison.analytic)
        if chosen.any():
            name = subject.third.at.function.arguments[comparison.argument].name
            worst = find_worst(comparison, chosen)
            yield Flaw(
                message=f"third derivative with respect to `{name}` is "
                f"wrong{off(comparison, worst)}",
                evidence=evidence(comparison, worst, name),
                hint="check the backward of each Function that backward calls",
            )


RULE = Rule(
    code="GT204",
    name="wrong-third-derivative",
    summary="The third derivative, through double backward, is wrong.",
    severity=Severity.ERROR,
    page=__doc__,
    traced=False,
    proves="third derivative",
    premises=("GT201",),
    check=_check,
)
