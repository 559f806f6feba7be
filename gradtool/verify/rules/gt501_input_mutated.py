"""Forward changes an input in place without marking it dirty.

What it does
------------

Compares the values of every input before and after forward. Inputs passed to ``ctx.mark_dirty`` may
change. For an input that requires a gradient, a change is an error; for any other input, a warning.
It is only a note for a buffer, such as the ``running_mean`` of a batch norm or a queue: an input
without a gradient of which its name, or a docstring, says that forward updates it.

Why it matters
--------------

The caller's tensor now holds other values, and autograd does not know: anything computed from it
afterwards gets the gradient at its old value.

Wrong example
-------------

    from gradtool import Function


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x.mul_(2) + 1

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

Right example
-------------

    from gradtool import Function


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x.mul(2) + 1

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * grad_output

How to fix
----------

Compute a new tensor. If changing the input is the purpose, pass it to ``ctx.mark_dirty`` and
return it.

Reference
---------

https://pytorch.org/docs/stable/generated/torch.autograd.function.FunctionCtx.mark_dirty.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtool.results.report import Severity
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import Argument
    from gradtool.verify.subject import Subject


_STATE = re.compile(
    r"(^|_)(run|running|moving|ema|avg|averages?|buf|buffers?|stats?|state|counts?|counter|"
    r"num_batches|history|usage|cache|queue|momentum|cluster_size)(_|$)"
)
"""Names of inputs that a Function updates at each call."""

_ALL_UPDATED = (
    r"\b(buffers|statistics|averages)\b[^.;]*\b(updated|overwritten)\b"
    r"|\b(updates|overwrites)\b[^.;]*\b(buffers|statistics|averages)\b"
)
"""Matches a clause about all of them."""


def _check(subject: Subject) -> Answer:
    flaws = tuple(_flaws(subject))
    return failed(*flaws) if flaws else passed()


def _flaws(subject: Subject) -> Iterator[Flaw]:
    forward = subject.first.forward
    for index in forward.mutated_arguments:
        if index in forward.declared_dirty:
            continue
        argument = subject.function.arguments[index]
        yield Flaw(
            message=f"forward changes `{argument.name}` in place without marking it dirty",
            hint=f"compute a new tensor, or call ctx.mark_dirty({argument.name}) and return it",
            severity=_severity(argument, subject.function.docstrings),
        )


def _severity(argument: Argument, docstrings: str) -> Severity | None:
    if argument.differentiable:
        return None
    is_state = _STATE.search(argument.name) or _says_updated(argument.name, docstrings)
    return Severity.NOTE if is_state else Severity.WARNING


def _says_updated(name: str, docstrings: str) -> bool:
    """Return True if a clause calls an argument a buffer, or says that it is updated.

    One about running buffers or statistics may leave out their names.
    """
    word = rf"\b{re.escape(name)}\b"
    clause = rf"{word}[^.;]*\b(buffers?|updated|overwritten)\b|\b(updates|overwrites)\b[^.;]*{word}"
    listed = rf"\b(buffers|statistics|averages) \([^)]*{word}"
    return bool(re.search(f"{clause}|{listed}|{_ALL_UPDATED}", docstrings, re.IGNORECASE))


RULE = Rule(
    code="GT501",
    name="input-mutated",
    summary="Forward changes an input in place without marking it dirty.",
    severity=Severity.ERROR,
    page=__doc__,
    blames=("forward",),
    premises=("GT003",),
    check=_check,
)
