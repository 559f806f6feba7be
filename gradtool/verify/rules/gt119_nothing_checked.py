"""No entry of a derivative was compared, so nothing was checked.

What it does
------------

Counts the entries of derivatives that were compared. If no case of a Function compared any, the
Function is unverified, which fails the run. This happens when all its tensors are empty, none
requires a gradient, or every output is an integer or boolean tensor, for which autograd never runs
backward. An entry does not count as compared if its tolerance is half its size or more, or if the
arguments are so small that their squares underflow. If other cases do compare something, a case
that requires no gradient or has no floating-point output gets a warning, provided that backward
computes a gradient for it. Integer and boolean outputs have no derivative: they pass if backward
raises, or returns None for every argument.

Why it matters
--------------

An operation such as ``x > 0``, whose result is not converted back, cuts the graph without an error:
nothing before it gets a gradient. A case that checks nothing proves nothing.

Wrong example
-------------

    from gradtool import Function, randn


    class Step(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x > 0

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * (x.abs() < 1)

        @staticmethod
        def sample_inputs():
            yield (randn(3, 4).double().requires_grad_(),)

Right example
-------------

    from gradtool import Function, randn


    class Step(Function):
        @staticmethod
        def forward(ctx, x):
            return (x > 0).to(x.dtype)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 0

        @staticmethod
        def sample_inputs():
            yield (randn(3, 4).double().requires_grad_(),)

How to fix
----------

Convert the output to the dtype of the input, ``(x > 0).to(x.dtype)``. If it is meant to be an
integer or boolean, return None from backward. Give the case an argument that requires a gradient.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html#how-to-use
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.diagnosis.methods import computes_gradients
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.rules._contract import KEEPS_CONTRACT
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, not_offered, passed, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if not subject.nothing_to_compare:
        # Made here for a run of this rule alone; otherwise rules on gradients have made them.
        _ = subject.given, subject.withheld
        if subject.compared:
            return passed()
        return skipped(subject.nothing_shown or "no gradient was compared")
    if subject.nothing_to_check and not computes_gradients(subject.function.lines):
        return _without_gradient(subject)
    flaw = _flaw(subject) if subject.nothing_to_check else None
    return failed(flaw) if flaw else skipped(subject.nothing_to_compare)


def _without_gradient(subject: Subject) -> Answer:
    """The answer for a backward that computes no gradient, where autograd asks for none."""
    arguments = [*subject.first.primals, *subject.first.forward.outputs]
    if subject.first.inputs or not any(is_continuous(a.dtype) for a in arguments if a is not None):
        return not_offered("no derivative")
    return skipped("no argument requires a gradient")


def _flaw(subject: Subject) -> Flaw | None:
    if not subject.first.inputs:
        return Flaw(
            message="nothing was checked: no argument requires a gradient, and backward never runs",
            hint="add a case with a floating-point tensor that requires a gradient",
        )
    outputs = [output for output in subject.first.forward.outputs if output is not None]
    if not outputs or any(is_continuous(output.dtype) for output in outputs):
        return None
    kinds = " or ".join(sorted({str(output.dtype) for output in outputs}))
    return Flaw(
        message=f"nothing was checked: every output is {kinds}, and autograd never runs backward",
        hint="convert the output to the dtype of the input, or return None from backward",
        method="forward",
    )


RULE = Rule(
    code="GT119",
    name="nothing-checked",
    summary="No entry of a derivative was compared, so nothing was checked.",
    severity=Severity.WARNING,
    page=__doc__,
    premises=(*KEEPS_CONTRACT, "GT121"),
    check=_check,
)
