"""The second derivative, through backward, differs from the derivative of the gradient.

What it does
------------

Treats backward as a function of the inputs and of grad_output, and compares autograd's derivative
of it with a numeric one, as GT101 does for forward. Where there is no derivative, as for a norm at
zero, it must still be a number if the gradient is one. The rule is checked only if the first
derivative is right.

Why it matters
--------------

Gradient penalties, Hessian-vector products and meta-learning differentiate the gradient. All of
them silently get a wrong value.

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
            return grad_output * 3 * x * x.detach()

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

Compute backward from saved inputs and outputs with operations that autograd records: no
``detach``, ``.data``, ``no_grad`` or NumPy in any part of the formula. If backward calls another
Function, that Function's own backward may be wrong. If you do not need second derivatives,
decorate backward with ``@once_differentiable``.

Reference
---------

https://pytorch.org/tutorials/intermediate/custom_function_double_backward_tutorial.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import DOUBLE_BACKWARD, Severity
from gradtool.verify.rules._judged import answer, flaws, is_cut, nothing_to_differentiate
from gradtool.verify.rules._rule import Answer, Flaw, Rule, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    reason = nothing_to_differentiate(subject)
    if reason:
        return skipped(reason)
    found = () if is_cut(subject) else tuple(flaws(subject, _hint(subject)))
    return answer(subject.curvature, found or _not_numbers(subject))


def _not_numbers(subject: Subject) -> Iterator[Flaw]:
    """Yield a flaw for each NaN at a point without derivatives, where the gradients are finite.

    No value is wrong there, as at a norm of zero, but every number is better than none.
    """
    if not (subject.given.is_nearby or subject.curvature.is_nearby):
        return
    is_elsewhere = subject.given.is_nearby
    second = subject.second_at(subject.first.primals) if is_elsewhere else subject.second
    outputs, gradients = second.forward.outputs, second.baseline.gradients or ()
    if not all(output is None or np.isfinite(output).all() for output in outputs):
        return
    for argument, gradient in zip(second.function.arguments, gradients, strict=True):
        if gradient is not None and np.isnan(gradient).any():
            where = np.unravel_index(int(np.argmax(np.isnan(gradient))), gradient.shape)
            place = f" at [{', '.join(map(str, where))}]" if where else ""
            yield Flaw(
                message="derivative of the gradients with respect to "
                f"`{argument.name}` is NaN{place}, where the gradients are finite",
                hint="keep the divisor away from zero before dividing: zero times NaN is NaN",
            )


def _hint(subject: Subject) -> str | None:
    """Advise against an attribute of ctx through which autograd loses a connection."""
    for name, word in subject.first.baseline.kept_on_ctx:
        kind, _, which = word.partition(":")
        what = f"`{which}`" if kind == "input" else f"output {which}"
        return f"autograd does not follow ctx.{name}: save {what} with ctx.save_for_backward"
    return None


RULE = Rule(
    code="GT201",
    name="wrong-second-derivative",
    summary="The second derivative differs from the derivative of the gradient.",
    severity=Severity.ERROR,
    page=__doc__,
    traced=False,
    proves=DOUBLE_BACKWARD,
    premises=("GT101", "GT106", "GT203", "GT202"),
    causes=("GT601",),
    check=_check,
)
