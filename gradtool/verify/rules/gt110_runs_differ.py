"""Two runs of backward after one forward differ.

What it does
------------

Runs backward twice over the same graph with the same cotangent and compares the gradients. If a
quick comparison finds a wrong gradient and the full comparison does not, the quick one is repeated
and must give the same result.

Why it matters
--------------

``retain_graph=True``, Jacobians and double backward run backward more than once. A backward that
draws random numbers, or changes saved tensors, gives a different gradient each time.

Wrong example
-------------

    from gradtool import Function
    import gradtool.engine as torch


    class Noisy(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 2 * (1 + torch.rand_like(grad_output))

Right example
-------------

    from gradtool import Function


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 2

How to fix
----------

Draw random numbers in forward and save them. Treat saved tensors as read-only.

Reference
---------

https://pytorch.org/docs/stable/notes/randomness.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._contract import KEEPS_CONTRACT
from gradtool.verify.rules._rule import Answer, Flaw, Rule, blocked, failed, passed, skipped
from gradtool.verify.rules._runs import gradient_difference
from gradtool.verify.rules.codes import SURROGATE

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_WHEN = "when backward runs a second time after one forward"
_CHANGED = (
    "results differ when the same calls are made again: the first were wrong, later ones were right"
)
_STATE = "keep no state outside ctx that changes the results of later calls"
_KEEP = "do not free tensors in backward that a second run needs; autograd frees saved ones"
_HINT = "draw random numbers in forward and save them; do not change saved tensors"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    if isinstance(subject.repeated, str):
        return failed(
            Flaw(
                message=f"backward raises in a second run after one forward: {subject.repeated}",
                hint=_KEEP,
            )
        )
    first, again = subject.repeated
    flaw = gradient_difference(subject, again, first, _WHEN, _HINT, same_order=True)
    if flaw and subject.random:
        return blocked(SURROGATE)
    if flaw is None and not subject.random and subject.has_changed:
        flaw = Flaw(message=_CHANGED, hint=_STATE)
    return failed(flaw) if flaw else passed()


RULE = Rule(
    code="GT110",
    name="runs-differ",
    summary="Two runs of backward after one forward differ.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=(*KEEPS_CONTRACT, "GT503", "GT504"),
    check=_check,
)
