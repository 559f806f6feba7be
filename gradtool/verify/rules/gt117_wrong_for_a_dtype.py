"""The gradient is wrong for a dtype that forward accepts.

What it does
------------

Calls the Function at the same point with its float64 inputs in float32, or the other way round. If
forward accepts them and computes the same values, the gradient must be the same. Three findings are
only notes: a backward that raises for float64, since anyone who needs that dtype will see it; a
gradient that loses its digits in float32 where the outputs keep theirs; and a wrong gradient for
complex inputs, where the code handles complex numbers. A Function that rejects a dtype is not
checked with it.

Why it matters
--------------

Training runs in float32, but checks run in float64. A mistake in a fast path for one dtype, a
``.double()`` left in backward or a buffer of the default dtype shows up in only one of the two.

Wrong example
-------------

    from gradtool import Function, randn


    class Relu(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            mask = x > 0 if "64" in str(x.dtype) else x.int() > 0
            return grad_output * mask

        @staticmethod
        def sample_inputs():
            yield (randn(3, 4).double().requires_grad_(),)

Right example
-------------

    from gradtool import Function, randn


    class Relu(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * (x > 0)

        @staticmethod
        def sample_inputs():
            yield (randn(3, 4).double().requires_grad_(),)

How to fix
----------

Create tensors with ``torch.zeros_like`` or ``x.new_zeros``, convert with ``.to(x.dtype)``, and
multiply by the conjugate, ``x.conj()``, which for a real tensor is the tensor itself. In forward,
reject the dtypes that backward does not support.

Reference
---------

https://pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.rules._runs import failure_of_run

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = "compute in the dtype of the inputs, or reject this one in forward"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    from gradtool.verify.variants import wrong_when_complex

    flaws = (*_of_precision(subject), *wrong_when_complex(subject))
    return failed(*flaws) if flaws else passed()


def _of_precision(subject: Subject) -> tuple[Flaw, ...]:
    """Flaws in the other real precision."""
    from gradtool.verify.variants import lost_digits, other_precision, wrong_gradient

    variant = other_precision(subject)
    if variant is None:
        return ()
    when = f"for {variant.dtype} inputs, which forward accepts"
    seen = variant.seen
    raised = failure_of_run(seen, when, _HINT)
    if raised:
        # Everybody meets the default dtype.
        is_default = variant.dtype == "float32"
        return (raised if is_default else replace(raised, severity=Severity.NOTE),)
    if subject.given.is_nondifferentiable:
        return ()  # Rounding moves the point off the kink, to any of its gradients.
    flaw = wrong_gradient(subject, variant, seen, when, _HINT)
    return (flaw,) if flaw else tuple(lost_digits(subject, seen, when))


RULE = Rule(
    code="GT117",
    name="wrong-for-a-dtype",
    summary="The gradient is wrong for a dtype that forward accepts.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=("GT101", "GT106", "GT111", "GT601"),
    check=_check,
)
