"""Backward returned None for an input that the outputs depend on.

What it does
------------

Looks at each input that requires a gradient and gets ``None`` for every cotangent. ``None`` means
zero, so the derivative of forward must be zero too. It is for an input that an iteration only
starts from: what is left of it when the iteration stops moves the outputs by less than a
thousandth, and in jumps.

Why it matters
--------------

Autograd treats ``None`` as zero. In training this looks like a parameter that never learns.

Wrong example
-------------

    from gradtool import Function


    class Scale(Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(scale)
            return x * scale

        @staticmethod
        def backward(ctx, grad_output):
            (scale,) = ctx.saved_tensors
            return grad_output * scale, None

Right example
-------------

    from gradtool import Function


    class Scale(Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(x, scale)
            return x * scale

        @staticmethod
        def backward(ctx, grad_output):
            x, scale = ctx.saved_tensors
            return grad_output * scale, (grad_output * x).sum_to_size(scale.shape)

How to fix
----------

Return the gradient. If an input is a constant by design, set ``requires_grad: false`` for it in
its case; if training may need its gradient, return it. Also check the positions in
``ctx.needs_input_grad``: they count all arguments of forward.

Reference
---------

https://pytorch.org/docs/stable/generated/torch.autograd.Function.backward.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.evidence import evidence, find_worst
from gradtool.verify.rules._contract import KEEPS_CONTRACT
from gradtool.verify.rules._judged import answer, is_derivable
from gradtool.verify.rules._rule import Answer, Flaw, Rule, passed, skipped
from gradtool.verify.wording import listed, off, outputs

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    if not subject.missing:
        return passed()
    found = answer(subject.withheld, _flaws(subject))
    if subject.starting_points and subject.withheld.worst is Decision.PASS:
        names = [subject.function.arguments[i].name for i in sorted(subject.starting_points)]
        return passed(f"only what an iteration leaves depends on {listed(names)}")
    return found


def _flaws(subject: Subject) -> Iterator[Flaw]:
    for comparison in subject.withheld.comparisons:
        chosen = comparison.decision == Decision.FAIL
        if chosen.any():
            name = subject.function.arguments[comparison.argument].name
            worst = find_worst(comparison, chosen)
            yield Flaw(
                message=f"backward returned None for `{name}`, but the derivative of"
                f" {outputs(worst)} is not zero{off(comparison, worst)}",
                evidence=evidence(comparison, worst, name),
                hint=f"return the gradient of `{name}`, or set `requires_grad: false` for it in "
                "the case if it is a constant",
                is_derivable=is_derivable(subject, [comparison]),
            )


RULE = Rule(
    code="GT106",
    name="missing-gradient",
    summary="Backward returned None for an input that the outputs depend on.",
    severity=Severity.ERROR,
    page=__doc__,
    traced=False,
    premises=KEEPS_CONTRACT,
    causes=("GT111",),
    check=_check,
)
