"""The Function gives different results on CUDA and on the CPU.

What it does
------------

With ``--device cuda``, calls the Function at the same point with the same cotangents on the CPU as
well, and compares outputs and gradients. They may differ by rounding, since the devices sum in a
different order. A run on the CPU alone skips this rule.

Why it matters
--------------

Code with a kernel for each device has two implementations, and tests usually run only one. An
approximation, a constant or an order of axes that differs on CUDA trains a different model there.

Wrong example
-------------

    from gradtool import Function


    class Scale(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.factor = 2.001 if x.is_cuda else 2.0
            return x * ctx.factor

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.factor

Right example
-------------

    from gradtool import Function


    class Scale(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.factor = 2.0
            return x * ctx.factor

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.factor

How to fix
----------

If forward differs, compare the launches, the indexing, the sums and the constants of the two
kernels. If only the gradient differs, GT101 has already checked the gradient on CUDA; run with
``--device cpu`` to check the other one.

Reference
---------

https://pytorch.org/docs/stable/notes/cuda.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, not_offered, passed, skipped
from gradtool.verify.rules._runs import failure_of_run, gradient_difference, same_output

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import Observation
    from gradtool.verify.subject import Subject

_WHEN = "on the CPU"
_HINT = "compare the code for CUDA with that for the CPU"


def _check(subject: Subject) -> Answer:
    if subject.twin is None:
        return not_offered("one device only")
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    here = subject.first.baseline
    there = subject.twin.call(subject.first.primals, subject.first.cotangents)
    flaw = failure_of_run(there, f"{_WHEN}, but not on CUDA", _HINT) or _outputs(here, there)
    if flaw is None and here.gradients is not None and there.gradients is not None:
        when = "on CUDA"
        flaw = gradient_difference(subject, here.gradients, there.gradients, when, _HINT)
    return failed(flaw) if flaw else passed()


def _outputs(here: Observation, there: Observation) -> Flaw | None:
    if len(here.outputs) != len(there.outputs):
        return Flaw(
            message="forward returns a different number of outputs on CUDA", method="forward"
        )
    for number, (one, other) in enumerate(zip(here.outputs, there.outputs, strict=True)):
        if one is None or other is None:
            continue
        if not same_output(one, other):
            message = f"output {number} differs between CUDA and the CPU"
            return Flaw(message=message, hint=_HINT, method="forward")
    return None


RULE = Rule(
    code="GT701",
    name="devices-disagree",
    summary="The Function gives different results on CUDA and on the CPU.",
    severity=Severity.ERROR,
    page=__doc__,
    proves="device comparison",
    premises=("GT101", "GT106", "GT110"),
    check=_check,
)
