"""The Function overrides both backward and vjp.

What it does
------------

Checks whether a Function overrides both ``backward`` and ``vjp``, which are two names for the same
method.

Why it matters
--------------

Autograd refuses to choose: the first backward pass raises.

Wrong example
-------------

    from gradtool import Function


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

        @staticmethod
        def vjp(ctx, grad_output):
            return 2 * grad_output

Right example
-------------

    from gradtool import Function


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

How to fix
----------

Keep ``backward`` and remove ``vjp``. A base class may define ``vjp``.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if not subject.function.defines_both_backward_and_vjp:
        return passed()
    message = f"{subject.function.name} defines both backward and vjp"
    return failed(Flaw(message=message, hint="keep one of them; vjp is another name for backward"))


RULE = Rule(
    code="GT507",
    name="backward-and-vjp",
    summary="The Function overrides both backward and vjp.",
    severity=Severity.ERROR,
    page=__doc__,
    reports=("both-backward-and-vjp",),
    check=_check,
)
