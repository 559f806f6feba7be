"""Double backward is silently cut: the gradient depends on a value that autograd does not track.

What it does
------------

Looks for second derivatives that autograd treats as zero because it sees no connection, although
the gradient does change. Also reports a wrong second derivative if forward saved a tensor that is
neither an input nor an output.

Why it matters
--------------

The first derivative is right, and every test of it passes. A gradient penalty or a Hessian then
silently leaves out a term, where ``@once_differentiable`` would have raised.

Wrong example
-------------

    from gradtool import Function


    class ExpSquared(Function):
        @staticmethod
        def forward(ctx, x):
            e = x.exp()
            ctx.save_for_backward(e)
            return e * e

        @staticmethod
        def backward(ctx, grad_output):
            (e,) = ctx.saved_tensors
            return grad_output * 2 * e * e

Right example
-------------

    from gradtool import Function


    class ExpSquared(Function):
        @staticmethod
        def forward(ctx, x):
            e = x.exp()
            y = e * e
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad_output):
            (y,) = ctx.saved_tensors
            return grad_output * 2 * y

How to fix
----------

Save only inputs and outputs: autograd knows where they come from, but treats anything else that
forward computes as a constant. Recompute an intermediate in backward, or return it as another
output. In backward, avoid anything that autograd does not record (``detach``, ``.data``,
``no_grad``, NumPy). Or decorate backward with ``@once_differentiable``, so that a second derivative
raises.

Reference
---------

https://pytorch.org/tutorials/intermediate/custom_function_double_backward_tutorial.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._judged import (
    ONCE,
    answer,
    flaws,
    is_cut,
    nothing_to_differentiate,
    saved_intermediate,
    treated_as_constant,
)
from gradtool.verify.rules._rule import Answer, Rule, passed, reported_by, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_LEFT = "in backward, avoid detach, .data, no_grad and NumPy, or decorate it with "


def _check(subject: Subject) -> Answer:
    reason = nothing_to_differentiate(subject)
    if reason:
        return skipped(reason)
    if not is_cut(subject):
        return passed()
    if any(word.startswith("output") for _, word in subject.first.forward.kept_on_ctx):
        return reported_by("GT505", "an output is kept on ctx")
    return answer(subject.curvature, flaws(subject, _advice(subject) + ONCE))


def _advice(subject: Subject) -> str:
    if not saved_intermediate(subject):
        return _LEFT
    names, noun, pronoun = treated_as_constant(subject)
    return f"autograd treats {names} as {noun}: recompute {pronoun} in backward, or use "


RULE = Rule(
    code="GT202",
    name="double-backward-cut",
    summary="Double backward is silently cut: the second derivative leaves out a term.",
    severity=Severity.ERROR,
    page=__doc__,
    traced=False,
    premises=("GT101", "GT106", "GT203"),
    causes=("GT601",),
    check=_check,
)
