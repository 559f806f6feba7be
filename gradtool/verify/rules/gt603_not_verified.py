"""The numeric derivative is not accurate enough to verify the gradient.

What it does
------------

Reports gradients that agree with the numeric derivative only because the error of that derivative
is large, and says why that error is large: noise in forward, outputs that change in steps,
difference quotients that do not settle at any step size, or values that are not finite. A gradient
that is off by more than that error fails as GT101. If the engine can differentiate forward step by
step and gets the same gradient, the gradient counts as verified.

Why it matters
--------------

Not verified does not mean right. The finding fails the run, so that a function that cannot be
checked does not slip through.

Wrong example
-------------

    import torch
    from gradtool import Function


    class Cancelled(Function):
        @staticmethod
        def forward(ctx, x):
            values = x.detach().numpy()
            return torch.from_numpy((values + 1e14) - 1e14)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.clone()

Right example
-------------

    from gradtool import Function


    class Identity(Function):
        @staticmethod
        def forward(ctx, x):
            return x + 0.0

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.clone()

How to fix
----------

Give the Function a case in float64, with inputs at which it is well conditioned. If forward
computes in a lower precision internally, check a float64 variant of it. If it leaves the engine,
for example through NumPy, write it with tensor operations, which the engine can differentiate.

Reference
---------

J. J. Moré and S. M. Wild, "Estimating computational noise", SIAM J. Sci. Comput. 33 (2011).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.evidence import evidence, find_worst
from gradtool.verify.oracle.estimate import Status
from gradtool.verify.rules._rule import Answer, Flaw, Rule, passed, skipped, unverified
from gradtool.verify.wording import number, share

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison
    from gradtool.verify.comparison.judgement import Judgement
    from gradtool.verify.diagnosis.evidence import Worst
    from gradtool.verify.subject import Subject

_WHY = {
    Status.STEPPED: "the output moves in steps too coarse to see a slope",
    Status.UNKNOWN: "the difference quotient does not settle at any step size",
    Status.OUTSIDE: "the output is not finite here",
}


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    flaws = [flaw for judgement in subject.judgements for flaw in _doubts(judgement)]
    return unverified(flaws[0].message, *flaws) if flaws else passed()


def _doubts(judgement: Judgement) -> Iterator[Flaw]:
    if judgement.worst is not Decision.UNVERIFIED:
        return
    for comparison in judgement.comparisons:
        doubtful = comparison.decision == Decision.UNVERIFIED
        if doubtful.any():
            name = judgement.at.function.arguments[comparison.argument].name
            worst = find_worst(comparison, doubtful)
            yield Flaw(
                message=f"derivative with respect to `{name}` could not be verified"
                f"{share(comparison, worst)}: {_why(comparison, worst)}",
                evidence=evidence(comparison, worst, name),
                hint="use a float64 case where forward is well conditioned",
            )


def _why(comparison: Comparison, worst: Worst) -> str:
    at = worst.row, worst.column
    status = Status(comparison.numeric.status[at])
    if status in _WHY:
        return _WHY[status]
    error, value = comparison.numeric.error[at], comparison.numeric.value[at]
    return f"forward is too noisy, numeric {number(value)} ± {error:.1g}"


RULE = Rule(
    code="GT603",
    name="not-verified",
    summary="The numeric derivative is not accurate enough to verify the gradient.",
    severity=Severity.ERROR,
    page=__doc__,
    collects_doubts=True,
    excused_with="GT101",
    premises=("GT101", "GT106", "GT601"),
    check=_check,
)
