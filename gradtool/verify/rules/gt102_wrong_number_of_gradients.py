"""Backward returned too few or too many gradients.

What it does
------------

Checks that backward returns one value for each argument of forward except ctx, tensor or not, in
the same order, with ``None`` for those that have no gradient. Extra ``None`` values at the end are
harmless. If the case leaves arguments at their defaults, backward is also run with the defaults
passed explicitly, as some callers do.

Why it matters
--------------

Autograd rejects the result, so the first training step raises.

Wrong example
-------------

    from gradtool import Function, randn


    class Scale(Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return factor * x

        @staticmethod
        def backward(ctx, grad_output):
            return ctx.factor * grad_output

        @staticmethod
        def sample_inputs():
            yield randn(3, requires_grad=True), 2.0

Right example
-------------

    from gradtool import Function, randn


    class Scale(Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return factor * x

        @staticmethod
        def backward(ctx, grad_output):
            return ctx.factor * grad_output, None

        @staticmethod
        def sample_inputs():
            yield randn(3, requires_grad=True), 2.0

How to fix
----------

Return one value for each argument of ``forward``, and ``None`` for those that are not tensors.

Reference
---------

https://pytorch.org/docs/stable/generated/torch.autograd.Function.backward.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.protocol.observation import FailureKind
from gradtool.verify.rules._contract import RUNS, engine_message, refused
from gradtool.verify.rules._rule import Answer, Rule, failed, flaw_of

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_KIND: FailureKind = "gradient-count"
_HINT = "return one value for each argument of forward, and None for those without a gradient"
_of_the_case = refused(_KIND, _HINT)


def _check(subject: Subject) -> Answer:
    answer = _of_the_case(subject)
    called = subject.function.with_defaults()
    if answer.flaws or called is None or subject.nothing_to_check:
        return answer
    failure = called.call(subject.first.primals, subject.first.cotangents).failure
    if failure is None or failure.kind != _KIND:
        return answer
    return failed(
        flaw_of(
            failure,
            f"{engine_message(failure)}, when the default arguments are passed explicitly",
            _HINT,
        )
    )


RULE = Rule(
    code="GT102",
    name="wrong-number-of-gradients",
    summary="Backward returned too few or too many gradients.",
    severity=Severity.ERROR,
    page=__doc__,
    reports=("gradient-count",),
    premises=RUNS,
    check=_check,
)
