"""jvp and backward are each close to the derivative, but are not adjoint to each other.

What it does
------------

Compares what ``jvp`` returns for random tangents with the product of backward's Jacobian and the
same tangents. Neither side is a difference quotient, so the two may differ only by rounding. The
rule is checked only if both are right within their tolerance.

Why it matters
--------------

One of the two computes with less precision than the other, or leaves out a small term. A
conjugate-gradient or Gauss-Newton step uses both, and relies on one being the transpose of the
other.

Wrong example
-------------

    from gradtool import Function


    class Sine(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * x.cos()

        @staticmethod
        def jvp(ctx, x_tangent):
            (x,) = ctx.saved_tensors
            return (x_tangent * x.cos()).float().double()

Right example
-------------

    from gradtool import Function


    class Sine(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * x.cos()

        @staticmethod
        def jvp(ctx, x_tangent):
            (x,) = ctx.saved_tensors
            return x_tangent * x.cos()

How to fix
----------

Compute both from the same saved values in the same precision.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html#forward-mode-ad
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Evidence, Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.evidence import scalar
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, not_offered, passed, skipped
from gradtool.verify.rules.gt301_wrong_jvp import NO_JVP
from gradtool.verify.thresholds.rules import ADJOINT_ROUNDINGS
from gradtool.verify.wording import apart

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if not subject.function.defines_jvp:
        return not_offered(NO_JVP)
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    if subject.jvp_failure:
        return skipped(subject.jvp_failure)
    if {subject.given.worst, subject.withheld.worst} != {Decision.PASS}:
        return skipped("the gradient is not known to be right")
    eps = subject.given.at.layout.eps().max(initial=0.0)
    for found in subject.jvps:
        apart_by = np.abs(found.jvp - found.analytic)
        allowed = (
            ADJOINT_ROUNDINGS * eps * np.maximum(found.size, 1e-3 * found.size.max(initial=0.0))
        )
        wrong = ~(apart_by <= allowed + 1e-290)
        # Where forward rounds, as in a lower precision, jvp may round as well.
        if wrong.any() and (wrong := wrong & subject.given.at.is_plain).any():
            return failed(_flaw(found.jvp, found.analytic, allowed, np.asarray(wrong)))
    return passed()


def _flaw(by_jvp: np.ndarray, by_vjp: np.ndarray, allowed: np.ndarray, wrong: np.ndarray) -> Flaw:
    row = int(np.argmax(np.where(wrong, np.abs(by_jvp - by_vjp), -1.0)))
    shown = apart(float(by_jvp[row]), float(by_vjp[row]))
    return Flaw(
        message=f"jvp and backward are not adjoint in {wrong.sum()} of {wrong.size} entries: "
        f"jvp gives {shown[0]}, backward {shown[1]}",
        hint="one of the two computes with less precision, or leaves out a small term",
        evidence=Evidence(
            analytic=scalar(float(by_jvp[row])),
            numeric=scalar(float(by_vjp[row])),
            difference=scalar(float(abs(by_jvp[row] - by_vjp[row]))),
            tolerance=scalar(float(allowed[row])),
            wrong=int(wrong.sum()),
            compared=wrong.size,
        ),
    )


RULE = Rule(
    code="GT302",
    name="jvp-and-vjp-not-adjoint",
    summary="jvp and backward are each close to the derivative, but not adjoint to each other.",
    severity=Severity.WARNING,
    page=__doc__,
    blames=("jvp", "backward", "vjp", "forward"),
    premises=("GT101", "GT106", "GT301"),
    causes=("GT601",),
    check=_check,
)
