"""An output shares memory with an input without autograd knowing.

What it does
------------

Looks for outputs that share memory with an input. Autograd knows about an input that is returned
unchanged or marked dirty, and about views made by tensor operations, but not about views made
through ``.data`` or NumPy. gradtool changes such an output in place between forward and backward.
If the gradient changes without an exception, the finding is an error; otherwise, it is a warning.

Why it matters
--------------

Changing the output in place changes the input too, but not the input's version counter. If this or
another Function saved the input, the saved values silently change.

Wrong example
-------------

    from gradtool import Function


    class Flatten(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape = x.shape
            return x.data.reshape(-1)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.reshape(ctx.shape)

Right example
-------------

    from gradtool import Function


    class Flatten(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape = x.shape
            return x.reshape(-1)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.reshape(ctx.shape)

How to fix
----------

Return a copy (``clone()``, ``numpy.array(...)``), or make the view with tensor operations. To
change an input in place, use its own methods and ``ctx.mark_dirty``.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._contract import RUNS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed
from gradtool.verify.rules._runs import silently_differs

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = "return a copy, or a view made by tensor operations"


def _check(subject: Subject) -> Answer:
    flaws = tuple(_flaws(subject))
    return failed(*flaws) if flaws else passed()


def _flaws(subject: Subject) -> Iterator[Flaw]:
    forward = subject.first.forward
    for argument, output in forward.hidden_aliases:
        if argument in forward.declared_dirty:
            continue
        name = subject.function.arguments[argument].name
        message = f"output {output} shares memory with `{name}` without autograd knowing"
        if _is_harmful(subject, output):
            harm = ": if it is changed in place, the gradient is silently wrong"
            yield Flaw(message=message + harm, hint=_HINT)
        else:
            yield Flaw(message=message, hint=_HINT, severity=Severity.WARNING)


def _is_harmful(subject: Subject, output: int) -> bool:
    """Return True if changing the output before backward changes the gradients."""
    if subject.nothing_to_check:
        return False
    changed = subject.function.call_with_output_changed_between(
        subject.first.primals, subject.first.cotangents, output
    )
    return silently_differs(subject.first.baseline, changed)


RULE = Rule(
    code="GT509",
    name="hidden-alias",
    summary="An output shares memory with an input without autograd knowing.",
    severity=Severity.ERROR,
    page=__doc__,
    blames=("forward",),
    premises=(*RUNS, "GT501", "GT505", "GT508"),
    check=_check,
)
