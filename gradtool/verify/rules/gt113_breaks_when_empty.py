"""Backward breaks for empty tensors that forward accepts.

What it does
------------

Sets the first extent of the first input, and every extent equal to it, to zero. Where forward
accepts that and returns finite numbers, runs backward: it must not raise, and must return
gradients of the inputs' shapes. It is only a note when a ``reshape`` to -1 is ambiguous there, or
a product of empty matrices singular. A backward that also raises for an extent of one, such as
that of a decomposition of tall matrices, is not blamed for failing at zero.

Why it matters
--------------

The last batch of a loader, a mask that selects nothing, or an expert that gets no token is empty.
Training then stops in backward, hours in.

Wrong example
-------------

    from gradtool import Function


    class Mean(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.rows = x.shape[0]
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            scale = ctx.rows / ctx.rows
            return grad_output * 2 * scale

Right example
-------------

    from gradtool import Function


    class Mean(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 2

How to fix
----------

Do not divide by an extent, take the first row or reduce to a maximum without checking that there
is one. Return early when there are no elements.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array, Observation
from gradtool.verify.rules._rule import Answer, Rule, failed, passed, skipped
from gradtool.verify.rules._runs import failure_of_run

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = "handle tensors without elements, or refuse them in forward"
_AMBIGUOUS = "unspecified dimension size -1"
"""Part of the message of a reshape that must infer an extent of an empty tensor."""

_SINGULAR = "LinAlgError"
"""Part of the message of solvers for the product of empty matrices, which is zero."""

_WHEN = "for empty inputs that forward accepts"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    empty = _shortened(subject.first.primals, 0)
    if empty is None:
        return skipped("no input has an extent to make zero")
    with warnings.catch_warnings():  # Means of empty tensors warn, and this rule takes them.
        warnings.simplefilter("ignore")
        return _asked(subject, empty)


def _asked(subject: Subject, empty: Sequence[Array]) -> Answer:
    forward = subject.function.call(empty)
    if forward.failure:
        return passed("forward does not accept empty inputs")
    cotangents = _ones(forward)
    if all(c is None for c in cotangents):
        return passed("no output requires a gradient for empty inputs")
    if any(o is not None and not np.isfinite(o).all() for o in forward.outputs):
        return passed("forward has no finite result for empty inputs")
    flaw = failure_of_run(subject.function.call(empty, cotangents), _WHEN, _HINT)
    if not flaw:
        return passed()
    if _AMBIGUOUS in flaw.message or _SINGULAR in flaw.message:
        return failed(replace(flaw, severity=Severity.NOTE))
    if _raises_for_one(subject):
        return passed("backward does not accept an extent of one either")
    return failed(flaw)


def _raises_for_one(subject: Subject) -> bool:
    """Return True if backward also fails when that extent is one."""
    single = _shortened(subject.first.primals, 1)
    assert single is not None
    forward = subject.function.call(single)
    if forward.failure:
        return False
    return subject.function.call(single, _ones(forward)).failure is not None


def _ones(forward: Observation) -> list[Array | None]:
    """A cotangent of ones for each output that has a graph."""
    return [
        np.ones_like(output)
        if output is not None and is_continuous(output.dtype) and graphed
        else None
        for output, graphed in zip(forward.outputs, forward.output_requires_grad, strict=True)
    ]


def _shortened(primals: Sequence[Array], length: int) -> list[Array] | None:
    """The primals with the first extent of the first cut to `length`, wherever it occurs."""
    extent = next((p.shape[0] for p in primals if p.ndim and is_continuous(p.dtype)), None)
    if not extent:
        return None
    kept = {extent: slice(length)}
    return [np.array(p[tuple(kept.get(size, slice(None)) for size in p.shape)]) for p in primals]


RULE = Rule(
    code="GT113",
    name="breaks-when-empty",
    summary="Backward breaks for empty tensors that forward accepts.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=("GT101", "GT106", "GT109", "GT112"),
    check=_check,
)
