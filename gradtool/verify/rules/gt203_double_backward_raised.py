"""Differentiating backward raised, and backward is not declared ``once_differentiable``.

What it does
------------

Runs backward while autograd records it, then differentiates the result, and reports the
exception. A backward decorated with ``@once_differentiable`` is exempt.

Why it matters
--------------

A gradient penalty or a Hessian-vector product stops in the middle of training, with an error that
seems unrelated to its cause.

Wrong example
-------------

    from gradtool import Function, tensor


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return tensor(2 * x.numpy() * grad_output.numpy())

Right example
-------------

    from gradtool import Function, once_differentiable, tensor


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return tensor(2 * x.numpy() * grad_output.numpy())

How to fix
----------

Write backward with tensor operations, or decorate it with ``@once_differentiable`` (below
``@staticmethod``), which turns this into a clear error.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._judged import ONCE, nothing_to_differentiate
from gradtool.verify.rules._rule import Answer, Rule, failed, flaw_of, passed, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = f"use tensor operations only, or decorate it with {ONCE}"


def _check(subject: Subject) -> Answer:
    reason = nothing_to_differentiate(subject)
    if reason:
        return skipped(reason)
    failure = subject.second.failure
    if failure is None or failure.kind == "no-graph":
        return passed()
    return failed(flaw_of(failure, f"backward cannot be differentiated: {failure.message}", _HINT))


RULE = Rule(
    code="GT203",
    name="double-backward-raised",
    summary="Differentiating backward raised, and it is not declared once_differentiable.",
    severity=Severity.ERROR,
    page=__doc__,
    traced=False,
    premises=("GT101", "GT106"),
    check=_check,
)
