"""Backward loses precision that forward has.

What it does
------------

Runs forward and backward at points so close together that smooth functions hardly change, and
measures how much outputs and gradients jitter there. A gradient that jitters far more than the
outputs do, relative to its size, has lost digits in backward. If the function itself is
ill-conditioned, both jitter, and the rule passes.

Why it matters
--------------

The gradient of a float64 function may be accurate to only seven digits, yet every comparison with
the usual tolerances passes. Second-order methods, long sums of gradients and small differences of
losses then stall or drift.

Wrong example
-------------

    from gradtool import Function


    class Sine(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return (grad_output.float() * x.float().cos()).double()

Right example
-------------

    from gradtool import Function


    class Sine(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * x.cos()

How to fix
----------

In backward, look for ``.float()``, ``.half()``, a buffer or constant of a lower dtype, and
differences of large numbers that nearly cancel (``mean(x**2) - mean(x)**2``). Save what backward
needs in the dtype that forward computes in. If the loss of precision is deliberate, to save memory,
ignore this rule for the Function and give that as the reason.

Reference
---------

J. J. Moré and S. M. Wild, "Estimating computational noise", SIAM J. Sci. Comput. 33 (2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Evidence, Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.evidence import scalar
from gradtool.verify.diagnosis.explained_by_jitter import is_explained_by_jitter
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped

if TYPE_CHECKING:
    from gradtool.verify.diagnosis.low_precision import PrecisionLoss
    from gradtool.verify.subject import Subject

_HINT = "compute backward in the dtype of forward, without differences that nearly cancel"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    is_wrong = subject.given.worst is Decision.FAIL and not is_explained_by_jitter(subject)
    if is_wrong or subject.first.failure:
        return skipped("the gradient is not known to be right")
    found = subject.low_precision_gradients
    if isinstance(found, str):
        return skipped(f"backward cannot be evaluated by itself: {found}")
    flaws = [_flaw(subject, each) for each in found]
    return failed(*flaws) if flaws else passed()


def _flaw(subject: Subject, loss: PrecisionLoss) -> Flaw:
    name = subject.function.arguments[loss.argument].name
    place = f" at [{', '.join(map(str, loss.index))}]" if loss.index else ""
    return Flaw(
        message=f"gradient of `{name}` jitters by {loss.gradient:.1g} of its size{place}, the "
        f"outputs by {loss.outputs:.1g}: backward loses digits",
        hint=_HINT,
        evidence=Evidence(
            argument=name,
            input_index=loss.index,
            analytic=scalar(loss.value),
            error=scalar(loss.gradient * abs(loss.value)),
        ),
    )


RULE = Rule(
    code="GT601",
    name="backward-loses-precision",
    summary="Backward loses precision that forward has.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=("GT101", "GT106"),
    check=_check,
)
