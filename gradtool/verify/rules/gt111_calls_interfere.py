"""Calls interfere: one changes what another gives.

What it does
------------

Makes two calls, first both forwards, then both backwards, and compares with each call on its
own. Outputs that change after forward has returned break this rule too.

Why it matters
--------------

A layer that is used twice in a model makes exactly these calls. State on the class or in the
module, and buffers that are reused, then give the first call the second one's values.

Wrong example
-------------

    from gradtool import Function, once_differentiable


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            Square.x = x.detach().clone()
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad_output):
            return grad_output * 2 * Square.x

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
            return grad_output * 2 * x

How to fix
----------

Keep what backward needs on ctx, which is new for each call, not on the class or in a global.
Return new tensors, not a buffer that the next call writes to.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results import Severity
from gradtool.verify.randomness import generator, shifted
from gradtool.verify.rules._failures import KEEPS_CONTRACT
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.rules._same import stopped, unlike
from gradtool.verify.wording import listed

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_NEARBY = 2.0**-3
_HINT = "keep what backward needs on ctx, not on the class or in a buffer that is used again"
_WHEN = "when another call comes between forward and backward"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    own = subject.first.primals
    other = shifted(own, _NEARBY, generator(subject.seed, "another call"))
    cotangents = subject.first.cotangents
    alone = subject.function.call(other, cotangents)
    if alone.failure or alone.gradients is None:
        return skipped("no second point was found")
    first, second = subject.function.interleaved((own, other), (cotangents, cotangents))
    flaw = stopped(first, _WHEN, _HINT) or stopped(second, _WHEN, _HINT)
    flaw = flaw or _overwritten(first.mutated_outputs)
    if flaw is None and first.gradients is not None and second.gradients is not None:
        baseline = subject.first.baseline.gradients or ()
        flaw = unlike(subject, first.gradients, baseline, _WHEN, _HINT)
        flaw = flaw or unlike(subject, second.gradients, alone.gradients, _WHEN, _HINT)
    return failed(flaw) if flaw else passed()


def _overwritten(outputs: tuple[int, ...]) -> Flaw | None:
    if not outputs:
        return None
    which = f"output{'s' if len(outputs) > 1 else ''} {listed(outputs)}"
    return Flaw(message=f"another call of forward changes {which} of the first", hint=_HINT)


RULE = Rule(
    code="GT111",
    name="calls-interfere",
    summary="Calls interfere: one changes what another gives.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=(*KEEPS_CONTRACT, "GT110"),
    check=_check,
)
