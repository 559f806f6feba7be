"""Backward changes a cotangent in place.

What it does
------------

Compares the values of every ``grad_output`` before and after backward.

Why it matters
--------------

The cotangent is not backward's own. Where the output was used in a sum, the other term gets the
very same tensor, and reads what backward made of it: in ``x + f(x)`` the gradient of the first
``x`` is wrong without a word, though that of ``f`` is right.

Wrong example
-------------

    from gradtool import Function


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.mul_(2)

Right example
-------------

    from gradtool import Function


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.mul(2)

How to fix
----------

Compute a new tensor, or work on ``grad_output.clone()``. ``contiguous()`` and ``view`` make no
copy of a tensor that lies in memory as they want it.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html says that backward must not change its
arguments in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results import Severity
from gradtool.verify.rules._failures import CALLS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.wording import listed

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    mutated = subject.first.baseline.mutated_cotangents
    if not mutated:
        return passed()
    which = "grad_output"
    if len(subject.first.forward.outputs) > 1:
        which = f"the cotangent{'s' if len(mutated) > 1 else ''} of {_outputs(mutated)}"
    hint = "compute a new tensor, or work on grad_output.clone()"
    return failed(Flaw(message=f"backward changes {which} in place", hint=hint))


def _outputs(numbers: tuple[int, ...]) -> str:
    return f"output{'s' if len(numbers) > 1 else ''} {listed(numbers)}"


RULE = Rule(
    code="GT503",
    name="cotangent-mutated",
    summary="Backward changes a cotangent in place.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=CALLS,
    check=_check,
)
