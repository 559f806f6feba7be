"""A gradient has a dtype, device or type that does not fit its input.

What it does
------------

Looks at the gradients before autograd casts them. It is an error if a gradient has fewer digits
than both the input and the outputs, has an integer dtype, has a complex dtype for a real input, is
on another device, or is not a tensor. A dtype with more digits than the input and every output is
reported as a note.

Why it matters
--------------

Autograd casts silently. A float64 gradient that was float32 at some point has lost half its digits,
and ``gradcheck`` compares after the cast.

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
            (x,) = ctx.saved_tensors
            return 2 * x.float() * grad_output.float()

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

Compute in the input's dtype and on its device; create tensors with ``torch.zeros_like`` or
``x.new_zeros`` rather than in the default dtype. A real input of a complex function gets the real
part of the gradient.

Reference
---------

https://pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Argument, Gradient
from gradtool.verify.rules._contract import RUNS, engine_message
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, flaw_of, passed, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    failure = subject.first.failure
    if failure is not None:
        kinds = ("gradient-type", "gradient-device")
        return (
            failed(flaw_of(failure, engine_message(failure))) if failure.kind in kinds else passed()
        )
    flaws = tuple(_flaws(subject))
    return failed(*flaws) if flaws else passed()


def _flaws(subject: Subject) -> Iterator[Flaw]:
    raw = subject.first.baseline.raw or ()
    coarsest, finest = _precisions(subject)
    for argument in subject.function.arguments:
        if argument.differentiable and argument.position < len(raw):
            yield from _of_argument(argument, raw[argument.position], coarsest, finest)


def _precisions(subject: Subject) -> tuple[float, float]:
    """The precision of the coarsest and of the finest output that backward gets cotangents of."""
    cotangents = [c for c in subject.first.cotangents if c is not None]
    eps = [epsilon(cotangent.dtype) for cotangent in cotangents]
    return max(eps), min(eps)


def _of_argument(
    argument: Argument, gradient: Gradient, coarsest: float, finest: float
) -> Iterator[Flaw]:
    of = f"gradient of `{argument.name}`"
    if gradient.type_name != "Tensor":
        yield Flaw(message=f"{of} is of type {gradient.type_name}, not a tensor")
    elif gradient.dtype is not None and not is_continuous(gradient.dtype):
        yield Flaw(message=f"{of} is {gradient.dtype}, which cannot hold a derivative")
    elif gradient.dtype is not None:
        eps, own = epsilon(gradient.dtype), epsilon(argument.dtype)
        change = f"{of} is {gradient.dtype}, but the input is {argument.dtype}"
        if eps > max(own, coarsest):
            yield Flaw(message=f"{change}: digits are lost", hint="compute in the input's dtype")
        elif eps < min(own, finest):
            yield Flaw(message=f"{change}: autograd will cast it down", severity=Severity.NOTE)


RULE = Rule(
    code="GT104",
    name="wrong-gradient-type",
    summary="A gradient has a dtype, device or type that does not fit its input.",
    severity=Severity.ERROR,
    page=__doc__,
    reports=("gradient-device", "gradient-type"),
    premises=(*RUNS, "GT102", "GT103", "GT105"),
    check=_check,
)
