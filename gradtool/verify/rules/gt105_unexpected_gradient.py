"""Backward returned a gradient for an argument that cannot have one.

What it does
------------

Looks at the values that backward returns for arguments that are not tensors, or are integer or
boolean tensors. They must be ``None``. A gradient for a floating-point tensor that does not require
one is allowed: autograd drops it.

Why it matters
--------------

For an argument that is not a tensor, autograd rejects the result. For an integer tensor it silently
drops the gradient, which was most likely computed for another argument.

Wrong example
-------------

    from gradtool import Function, randn, tensor


    class Pick(Function):
        @staticmethod
        def forward(ctx, index, x):
            ctx.save_for_backward(index)
            ctx.shape = x.shape
            return x[index]

        @staticmethod
        def backward(ctx, grad_output):
            (index,) = ctx.saved_tensors
            grad_x = grad_output.new_zeros(ctx.shape).index_add(0, index, grad_output)
            return grad_x, None

        @staticmethod
        def sample_inputs():
            yield tensor([2, 0, 1]), randn(3, requires_grad=True)

Right example
-------------

    from gradtool import Function, randn, tensor


    class Pick(Function):
        @staticmethod
        def forward(ctx, index, x):
            ctx.save_for_backward(index)
            ctx.shape = x.shape
            return x[index]

        @staticmethod
        def backward(ctx, grad_output):
            (index,) = ctx.saved_tensors
            grad_x = grad_output.new_zeros(ctx.shape).index_add(0, index, grad_output)
            return None, grad_x

        @staticmethod
        def sample_inputs():
            yield tensor([2, 0, 1]), randn(3, requires_grad=True)

How to fix
----------

Return ``None`` there, and check that the gradients are in the order of forward's arguments.

Reference
---------

https://pytorch.org/docs/stable/generated/torch.autograd.Function.backward.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Gradient
from gradtool.verify.rules._contract import RUNS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = "return None at that position"
_OWN = "return None at that position, and pass tensors that need gradients as separate arguments"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    flaws = tuple(_flaws(subject))
    return failed(*flaws) if flaws else passed()


def _flaws(subject: Subject) -> Iterator[Flaw]:
    tensors = {argument.position: argument for argument in subject.function.arguments}
    for position, gradient in enumerate(subject.first.baseline.raw or ()):
        argument = tensors.get(position)
        if _is_none(gradient) or (argument and is_continuous(argument.dtype)):
            continue
        if argument is None:
            if position in subject.function.sparse:
                continue
            what = f"backward returned a gradient for argument {position}, which is not a tensor"
            yield Flaw(message=what, hint=_OWN)
        else:
            yield Flaw(
                message=f"backward returned a gradient for `{argument.name}`, which is"
                f" {argument.dtype}: autograd drops it",
                hint=_HINT,
                severity=None if _says_something(gradient) else Severity.WARNING,
            )


def _is_none(gradient: Gradient) -> bool:
    return gradient.value is None and gradient.type_name == "Tensor"


def _says_something(gradient: Gradient) -> bool:
    """Return True if dropping it loses something: zeros for an integer tensor do no harm."""
    return gradient.value is None or bool(gradient.value.any())


RULE = Rule(
    code="GT105",
    name="unexpected-gradient",
    summary="Backward returned a gradient for an argument that cannot have one.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=(*RUNS, "GT102"),
    check=_check,
)
