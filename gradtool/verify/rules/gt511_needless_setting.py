"""A tolerance or an ignored rule is not needed.

What it does
------------

Where a case, or all cases of a Function, have a tolerance of their own, compares again with a
tenth of it: if everything still passes, the tolerance hides what nobody knows of. A tolerance
that holds for the whole run is not asked about. Rules that the configuration ignores for a
Function are asked all the same: where none of them is broken, the entry is not needed any more.
Nor is a comment ``# gradtool: ignore[GT505] reason`` in the Function that covers nothing broken.

Why it matters
--------------

A tolerance far above the error lets mistakes of that size pass. An entry that ignores a rule
outlives its reason, and the next mistake of that kind goes unseen.

Wrong example
-------------

    from gradtool import Case, Function, randn


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

        @staticmethod
        def sample_inputs():
            yield Case((randn(3, requires_grad=True),), atol=1e-2)

Right example
-------------

    from gradtool import Case, Function, randn


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

        @staticmethod
        def sample_inputs():
            yield Case((randn(3, requires_grad=True),))

How to fix
----------

Remove the tolerance, the comment or the entry under ``ignore``, or lower the tolerance to a few
times the difference that the finding names.

Reference
---------

The idea is that of ``warn_unused_ignores`` in mypy and of RUF100 in ruff.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.comparison.slack import largest_difference, needless
from gradtool.verify.rules._rule import Answer, Flaw, Rule, Scope, failed, passed
from gradtool.verify.wording import listed, number

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    comparisons = [each for judgement in subject.judgements for each in judgement.comparisons]
    names = needless(comparisons)
    if not names:
        return passed()
    given = listed([f"{name} {number(value)}" for name, value in names.items()])
    seen = number(largest_difference(comparisons))
    return failed(
        Flaw(
            message=f"{given} is more than ten times what is needed:"
            f" no gradient is off by more than {seen}",
            hint="remove it, or lower it to a few times that difference",
        )
    )


RULE = Rule(
    code="GT511",
    name="needless-setting",
    summary="A tolerance or an ignored rule is not needed.",
    severity=Severity.WARNING,
    page=__doc__,
    scopes=(Scope.CASE, Scope.ALL_CASES),
    premises=("GT101", "GT106", "GT201", "GT602", "GT603"),
    check=_check,
)
