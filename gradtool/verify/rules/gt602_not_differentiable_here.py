"""The function has no derivative at the point of the case.

What it does
------------

If the slopes from the left and the right differ, or one of them is infinite, there is no derivative
to compare with. gradtool then checks the gradient at a nearby point. If no nearby point has a
derivative, any value between the two slopes passes. The note says which of the two applies.

Why it matters
--------------

The gradient at this point is a choice (a subgradient), and a test should not depend on it by
accident.

Wrong example
-------------

    from gradtool import Function, zeros


    class Relu(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * (x > 0)

        @staticmethod
        def sample_inputs():
            yield (zeros(3, requires_grad=True),)

Right example
-------------

    from gradtool import Function, tensor


    class Relu(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * (x > 0)

        @staticmethod
        def sample_inputs():
            yield (tensor([-1.5, 0.5, 2.0], requires_grad=True),)

How to fix
----------

Choose a case away from the kink, with entries on both sides of it.

Reference
---------

https://pytorch.org/docs/stable/notes/autograd.html#gradients-for-non-differentiable-functions
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.diagnosis.evidence import evidence, find_worst
from gradtool.verify.oracle.estimate import Status
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.wording import at_column, number

if TYPE_CHECKING:
    from gradtool.verify.comparison.judgement import Judgement
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    flaws = [
        flaw
        for judgement in (subject.given, subject.withheld)
        for flaw in _kinks(subject, judgement)
    ]
    return failed(*flaws) if flaws else passed()


def _kinks(subject: Subject, judgement: Judgement) -> Iterator[Flaw]:
    for comparison in judgement.own:
        kinks = comparison.numeric.status == Status.KINK
        if kinks.any():
            name = subject.function.arguments[comparison.argument].name
            worst = find_worst(comparison, kinks)
            at = worst.row, worst.column
            slopes = (number(comparison.numeric.left[at]), number(comparison.numeric.right[at]))
            checked = (
                "checked at a point nearby"
                if judgement.is_nearby
                else "any slope between them passes"
            )
            yield Flaw(
                message=f"no derivative with respect to `{name}`{at_column(comparison, at[1])}:"
                f" slopes {slopes[0]} on the left, {slopes[1]} on the right; {checked}",
                evidence=evidence(comparison, worst, name),
                severity=Severity.NOTE,
            )


RULE = Rule(
    code="GT602",
    name="not-differentiable-here",
    summary="The function has no derivative at the point of the case.",
    severity=Severity.NOTE,
    page=__doc__,
    premises=("GT101", "GT106"),
    check=_check,
)
