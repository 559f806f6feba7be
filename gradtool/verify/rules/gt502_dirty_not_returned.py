"""An input was marked dirty but is not among the outputs.

What it does
------------

Compares what forward passed to ``ctx.mark_dirty`` with what it returned.

Why it matters
--------------

An input that is changed in place gets a new position in the graph, as an output. One that is not
returned has none: autograd rejects it, or computes gradients through it at its old value.

Wrong example
-------------

    from gradtool import Function, randn


    class DoubleInPlace(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x.clone()

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

        @staticmethod
        def sample_inputs():
            yield (randn(3, requires_grad=True),)

Right example
-------------

    from gradtool import Function, randn


    class DoubleInPlace(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

        @staticmethod
        def sample_inputs():
            yield (randn(3, requires_grad=True),)

How to fix
----------

Return the tensor itself, or do not change it in place and do not mark it.

Reference
---------

https://pytorch.org/docs/stable/generated/torch.autograd.function.FunctionCtx.mark_dirty.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._contract import engine_message
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, flaw_of, passed
from gradtool.verify.wording import listed

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = "return that tensor, or do not mark it dirty"
_HINT_FOR_SEVERAL = "return each of these tensors, or do not mark it dirty"


def _check(subject: Subject) -> Answer:
    observation = subject.first.forward
    names = [f"`{subject.function.arguments[i].name}`" for i in observation.dirty_not_returned]
    if names:
        them, hint = ("it", _HINT) if len(names) == 1 else ("them", _HINT_FOR_SEVERAL)
        message = f"forward marked {listed(names)} dirty but did not return {them}"
        return failed(Flaw(message=message, hint=hint))
    failure = observation.failure
    if failure and failure.kind == "dirty-not-returned":
        return failed(flaw_of(failure, engine_message(failure), _HINT))
    return passed()


RULE = Rule(
    code="GT502",
    name="dirty-not-returned",
    summary="An input was marked dirty but is not among the outputs.",
    severity=Severity.ERROR,
    page=__doc__,
    reports=("dirty-not-returned",),
    blames=("setup_context", "forward"),
    premises=("GT003",),
    check=_check,
)
