"""The gradient is NaN or infinite where the function and its inputs are finite.

What it does
------------

Looks at the gradient for a random cotangent. A NaN violates this rule wherever the outputs are
finite. An infinite entry violates it where a difference quotient is finite.

Why it matters
--------------

One NaN spreads to every parameter in the next step. Its usual cause is a division by a norm, a
standard deviation or a distance that happens to be zero.

Wrong example
-------------

    from gradtool import Function, tensor


    class Norm(Function):
        @staticmethod
        def forward(ctx, x):
            y = (x * x).sum().sqrt()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors
            return grad_output * x / y

        @staticmethod
        def sample_inputs():
            yield (tensor([0.0, 0.0, 0.0]).double().requires_grad_(),)

Right example
-------------

    from gradtool import Function, tensor


    class SoftNorm(Function):
        @staticmethod
        def forward(ctx, x):
            y = ((x * x).sum() + 1).sqrt()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors
            return grad_output * x / y

        @staticmethod
        def sample_inputs():
            yield (tensor([0.3, 0.0, -0.4]).double().requires_grad_(),)

How to fix
----------

Guard the division: ``clamp`` the divisor away from zero, or use ``where`` on it before dividing.
Masking the quotient afterwards does not help: zero times NaN is NaN.

Reference
---------

https://pytorch.org/docs/stable/notes/autograd.html#gradients-for-non-differentiable-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from gradtool.results.report import Evidence, Severity
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array, NotANumber
from gradtool.verify.rules._contract import KEEPS_CONTRACT
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = "keep divisors and arguments of log away from zero, and exponents from overflowing"

_ADVICE = (
    ("inf'", "give rows of which all is masked a value of their own"),
    ("exp(", "keep exponents from overflowing"),
    ("log(", "keep arguments of log away from zero"),
    ("/", "keep divisors away from zero"),
    ("**", "keep the base of a negative power away from zero"),
)
"""Parts of the code of an operation that is not finite, each with the advice for it."""


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    if not all(_is_finite(a) for a in (*subject.first.primals, *subject.first.forward.outputs)):
        return skipped("the inputs or the outputs are not finite")
    gradients = subject.first.baseline.gradients or ()
    for argument, gradient in zip(subject.function.arguments, gradients, strict=True):
        if gradient is not None and not _is_finite(gradient):
            flaw = _flaw(argument.name, gradient)
            if flaw:
                return failed(_explained(subject, flaw))
    return passed()


def _explained(subject: Subject, flaw: Flaw) -> Flaw:
    """Name the expression of backward that is NaN first, if there is one."""
    first = subject.first
    found = subject.function.first_nan(first.primals, first.cotangents)
    if found is None:
        return flaw
    because = f", as `{found.infinite}` is infinite" if found.infinite else ""
    hint = f"`{found.code}` (line {found.line}) is NaN{because}: {_advice(found)}"
    return structs.replace(flaw, hint=hint, path=found.path, line=found.line)


def _advice(found: NotANumber) -> str:
    """Advise what is usual for the operation that is not finite."""
    advice = (text for sign, text in _ADVICE if sign in (found.infinite or found.code))
    return next(advice, _HINT)


def _flaw(name: str, gradient: Array) -> Flaw | None:
    """Infinite entries are left to GT101, which knows whether the derivative is."""
    wrong = np.isnan(gradient)
    if not wrong.any():
        return None
    where = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    place = f", first at [{', '.join(map(str, where))}]" if where else ""
    return Flaw(
        message=f"gradient of `{name}` is NaN in {wrong.sum()} of {wrong.size} entries{place}, "
        "where forward is finite",
        hint=_HINT,
        evidence=Evidence(
            argument=name,
            input_index=where,
            analytic="nan",
            wrong=int(wrong.sum()),
            compared=wrong.size,
        ),
    )


def _is_finite(array: Array | None) -> bool:
    return array is None or not is_continuous(array.dtype) or bool(np.isfinite(array).all())


RULE = Rule(
    code="GT114",
    name="gradient-not-finite",
    summary="The gradient is NaN or infinite where the function and its inputs are finite.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=KEEPS_CONTRACT,
    check=_check,
)
