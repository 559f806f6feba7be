"""A gradient has a different shape from its input.

What it does
------------

Compares the shape of each gradient that backward returns with that of its input. Autograd sums a
gradient that broadcasting has made larger, and rejects any other shape.

Why it matters
--------------

Autograd rejects the result, so the first training step raises.

Wrong example
-------------

    from gradtool import Function, randn


    class Total(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return (x * x).sum(1)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * (grad_output.unsqueeze(1) * x).t()

        @staticmethod
        def sample_inputs():
            yield (randn(3, 4, requires_grad=True),)

Right example
-------------

    from gradtool import Function, randn


    class Total(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return (x * x).sum(1)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * grad_output.unsqueeze(1) * x

        @staticmethod
        def sample_inputs():
            yield (randn(3, 4, requires_grad=True),)

How to fix
----------

Make the gradient match the input's shape: transpose it back, undo an ``unsqueeze``, or sum over the
axes that forward broadcast.

Reference
---------

https://pytorch.org/docs/stable/notes/broadcasting.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.diagnosis.refitted import refitted
from gradtool.verify.protocol.observation import Array, FailureKind
from gradtool.verify.rules._contract import RUNS, engine_message
from gradtool.verify.rules._rule import Answer, Rule, failed, flaw_of, passed, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_KIND: FailureKind = "gradient-shape"
_HINT = "make the gradient match the shape of the input"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    failure = subject.first.failure
    if failure is None or failure.kind != _KIND:
        return passed()
    misshapen = _misshapen(subject)
    if misshapen is None:
        return failed(flaw_of(failure, engine_message(failure), _HINT))
    at, gradient = misshapen
    argument = subject.function.arguments[at]
    message = (
        f"gradient of `{argument.name}` has shape {list(gradient.shape)}, "
        f"but `{argument.name}` has shape {list(argument.shape)}"
    )
    return failed(flaw_of(failure, message, _fix(subject, at, gradient)))


def _misshapen(subject: Subject) -> tuple[int, Array] | None:
    """The first argument whose gradient does not fit, and that gradient."""
    raw = subject.first.baseline.raw or ()
    for at in subject.first.inputs:
        argument = subject.function.arguments[at]
        value = raw[argument.position].value if argument.position < len(raw) else None
        if value is not None and not _fits(value.shape, argument.shape):
            return at, value
    return None


def _fits(returned: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    """Return True if autograd can sum a gradient of the first shape to the second."""
    try:
        return np.broadcast_shapes(returned, expected) == returned
    except ValueError:
        return False


def _fix(subject: Subject, at: int, gradient: Array) -> str:
    """Name a rearrangement of the gradient that is the derivative, if there is one."""
    first, name = subject.first, subject.function.arguments[at].name
    code = refitted(subject.function, first.primals, first.cotangents, at, gradient, subject.seed)
    if code is None:
        return _HINT
    return f"return `{code}`, where `grad` is the gradient of `{name}` that backward returns now"


RULE = Rule(
    code="GT103",
    name="wrong-gradient-shape",
    summary="A gradient has a different shape from its input.",
    severity=Severity.ERROR,
    page=__doc__,
    reports=(_KIND,),
    premises=(*RUNS, "GT102"),
    check=_check,
)
