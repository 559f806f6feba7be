"""Backward changes a cotangent in place, or jvp changes a tangent in place.

What it does
------------

Compares the values of every ``grad_output`` before and after backward, and of every tangent
before and after ``jvp``. The tangent of an input that is marked dirty should change with the
input, and is exempt.

Why it matters
--------------

The cotangent does not belong to backward. If the output was used in a sum, the other term gets the
very same tensor, with whatever backward wrote to it: in ``x + f(x)`` the gradient of the first
``x`` is silently wrong, though that of ``f`` is right. A tangent does not belong to ``jvp`` either:
the caller still uses it, and so does everything else that was computed from the same input.

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

Compute a new tensor, or work on a ``clone()``. ``contiguous()`` and ``view`` make no copy when
the memory layout already fits.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html says that backward must not change its
arguments in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._contract import CALLS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.wording import listed

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    mutated = subject.first.baseline.mutated_cotangents
    if not mutated:
        return _of_jvp(subject)
    which = "grad_output"
    if len(subject.first.forward.outputs) > 1:
        which = f"the cotangent{'s' if len(mutated) > 1 else ''} of {_outputs(mutated)}"
    hint = "compute a new tensor, or work on grad_output.clone()"
    return failed(Flaw(message=f"backward changes {which} in place", hint=hint))


def _of_jvp(subject: Subject) -> Answer:
    dirty = subject.first.baseline.declared_dirty
    changed = [i for i in subject.changed_by_jvp.tangents if i not in dirty]
    if not changed:
        return passed()
    names = [f"`{subject.function.arguments[i].name}`" for i in changed]
    message = f"jvp changes the tangent{'s' if len(names) > 1 else ''} of {listed(names)} in place"
    hint = "compute a new tensor, or work on a clone() of the tangent"
    return failed(Flaw(message=message, hint=hint, method="jvp"))


def _outputs(numbers: tuple[int, ...]) -> str:
    return f"output{'s' if len(numbers) > 1 else ''} {listed(numbers)}"


RULE = Rule(
    code="GT503",
    name="cotangent-mutated",
    summary="Backward changes a cotangent in place, or jvp changes a tangent in place.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=CALLS,
    check=_check,
)
