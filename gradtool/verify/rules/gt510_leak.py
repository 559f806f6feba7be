"""Memory that a call keeps for backward outlives its outputs.

What it does
------------

Calls the Function with the garbage collector off, drops the outputs, and checks whether their node
in the graph, which is the ctx, is gone. If a collection then frees it, it was part of a reference
cycle; if not, something still refers to it.

Why it matters
--------------

Everything that was saved stays in memory with the ctx. A training loop accumulates one copy per
step until the next collection or, if something still refers to the copies, for as long as it runs.
GPU memory runs out first, and the collector does not know about it.

Wrong example
-------------

    from gradtool import Function


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.scale = lambda gradient: gradient * len(ctx.needs_input_grad) * 2
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return ctx.scale(grad_output)

Right example
-------------

    from gradtool import Function


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * len(ctx.needs_input_grad) * 2

How to fix
----------

Put nothing on ctx that leads back to ctx: neither ctx itself, nor a function that uses it, nor an
output (save outputs with ``ctx.save_for_backward``). Do not keep a ctx or an output in an attribute
of the class or a global variable; keep ``output.detach()`` instead.

Reference
---------

https://pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._contract import RUNS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, reported_by, skipped

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import Leak
    from gradtool.verify.subject import Subject

_FLAWS: dict[Leak, Flaw] = {
    "cycle": Flaw(
        message="ctx outlives the outputs: it is part of a reference cycle",
        hint="do not keep ctx itself on ctx, nor a function or object that refers to it",
    ),
    "held": Flaw(
        message="ctx outlives the outputs: a variable outside the call refers to ctx or an output",
        hint="do not keep ctx or an output there; keep output.detach() instead",
    ),
}


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    if any(word.startswith("output") for _, word in subject.first.forward.kept_on_ctx):
        return reported_by("GT505", "an output is kept on ctx")
    leak = subject.function.leaks(subject.first.primals)
    return failed(_FLAWS[leak]) if leak else passed()


RULE = Rule(
    code="GT510",
    name="leak",
    summary="Memory that a call keeps for backward outlives its outputs.",
    severity=Severity.WARNING,
    page=__doc__,
    blames=("setup_context", "forward"),
    premises=(*RUNS, "GT505", "GT111"),
    check=_check,
)
