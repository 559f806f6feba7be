"""The derivative of the tangent that jvp returns is wrong: reverse over forward fails.

What it does
------------

Treats ``jvp`` as a function of the inputs and their tangents, and compares autograd's derivative of
it with a numeric one. The rule is checked only if the tangent itself and double backward are right
and backward is not declared ``@once_differentiable``. A ``jvp`` whose derivative raises is exempt:
its caller sees the exception.

Why it matters
--------------

A Hessian by reverse over forward, the gradient of a directional derivative, and losses that contain
derivatives, as in physics-informed networks, differentiate the tangent. If the tangent depends on a
value that autograd does not track, they silently leave out a term.

Wrong example
-------------

    from gradtool import Function


    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(3 * x**2)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 3 * x**2

        @staticmethod
        def jvp(ctx, x_tangent):
            (slope,) = ctx.saved_tensors
            return x_tangent * slope

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

Compute ``jvp`` from the tangents and from saved inputs and outputs, with operations that autograd
records: no ``detach``, ``.data``, ``no_grad`` or NumPy. Autograd treats any other value that
forward computes as a constant.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html#forward-mode-ad
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.evidence import evidence, find_worst
from gradtool.verify.rules._judged import answer, nothing_to_differentiate
from gradtool.verify.rules._rule import Answer, Flaw, Rule, not_offered, skipped
from gradtool.verify.rules.gt301_wrong_jvp import NO_JVP
from gradtool.verify.wording import off

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = (
    "compute jvp from the tangents and the saved inputs and outputs; avoid saved intermediates, "
    "detach, .data, no_grad and NumPy"
)


def _check(subject: Subject) -> Answer:
    if not subject.function.defines_jvp:
        return not_offered(NO_JVP)
    reason = nothing_to_differentiate(subject)
    if reason:
        return skipped(reason)
    if subject.jvp_failure:
        return skipped(subject.jvp_failure)
    if not any(any(found.jvp) for found in subject.jvps):
        return skipped("the tangent is zero")
    failure = subject.jvp_derivatives.failure
    if failure:
        return skipped(f"jvp cannot be differentiated: {failure.message}")
    return answer(subject.jvp_curvature, _flaws(subject))


def _flaws(subject: Subject) -> Iterator[Flaw]:
    for comparison in subject.jvp_curvature.comparisons:
        chosen = comparison.decision == Decision.FAIL
        if chosen.any():
            name = subject.jvp_derivatives.function.arguments[comparison.argument].name
            worst = find_worst(comparison, chosen)
            yield Flaw(
                message=f"derivative with respect to `{name}` of the tangent that jvp returns is "
                f"wrong{off(comparison, worst)}",
                evidence=evidence(comparison, worst, name),
                hint=_HINT,
            )
            return


RULE = Rule(
    code="GT303",
    name="jvp-cut",
    summary="The derivative of the tangent that jvp returns leaves out a term.",
    severity=Severity.ERROR,
    page=__doc__,
    blames=("jvp", "backward", "vjp", "forward"),
    premises=("GT101", "GT106", "GT301", "GT203", "GT202", "GT201"),
    check=_check,
)
