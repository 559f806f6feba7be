"""Backward raised an exception, or has a misspelled name.

What it does
------------

Runs backward with random cotangents for all outputs together, then once for every entry of every
output. Reports an exception with the line of your code that raised it.

Why it matters
--------------

The first training step that reaches the Function raises the same exception.

Wrong example
-------------

    from gradtool import Function


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors  # one tensor was saved
            return 2 * x * grad_output

Right example
-------------

    from gradtool import Function


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * x * grad_output

How to fix
----------

Fix the line that the finding names; ``-v`` shows the whole traceback. A Function that has no
gradient on purpose should mark its outputs with ``ctx.mark_non_differentiable``.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._contract import CALLS, engine_message, reporter_of
from gradtool.verify.rules._rule import Answer, Rule, passed, raised, reported_by, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    failure = subject.first.failure
    if failure is None:
        return passed()
    reporter = reporter_of(failure.kind)
    if reporter:
        return reported_by(reporter)
    if subject.first.baseline.failure is None and isinstance(subject.repeated, str):
        return reported_by("GT110", "only a second run of backward raises")
    if failure.kind == "raised":
        return raised(failure, f"backward raised {failure.message}")
    return raised(failure, engine_message(failure))


RULE = Rule(
    code="GT004",
    name="backward-raised",
    summary="Backward raised an exception, or has a misspelled name.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=(*CALLS, "GT501", "GT503", "GT504"),
    check=_check,
)
