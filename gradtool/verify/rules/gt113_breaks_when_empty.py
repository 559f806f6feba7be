"""Backward breaks for empty tensors that forward accepts.

What it does
------------

Sets the first extent of the first input to zero, and with it the equal leading extents of other
inputs if forward treats them as the same axis. If forward accepts that and returns finite numbers,
backward must not raise and must return gradients of the inputs' shapes. The finding is only a note
if the emptied axis might not be a batch axis, because forward sums over it or uses it for two axes
of an output; if a ``reshape`` to -1 is ambiguous; or if a product of empty matrices is singular. It
is also only a note if the entries along the axis depend on one another and on their order, as in a
scan, a Fourier transform, a sort or a cumulative sum. A backward that also raises for an extent of
one, such as that of a decomposition of tall matrices, is not reported.

Why it matters
--------------

The last batch of a loader can be empty, and so can the entries that a mask selects or the input of
an expert. Training then stops in backward, hours into the run.

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

Do not divide by an extent, index the first row or take a maximum without first checking that the
axis is not empty. Return early when there are no elements.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from gradtool.results.report import Severity
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array, Observation
from gradtool.verify.rules._batch_axes import Axes, is_of_batch
from gradtool.verify.rules._rule import Answer, Rule, failed, passed, skipped
from gradtool.verify.rules._runs import failure_of_run

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = "handle empty tensors, or reject them in forward"
_AMBIGUOUS = "unspecified dimension size -1"
"""Part of the message of a reshape that must infer an extent of an empty tensor."""

_SINGULAR = "LinAlgError"
"""Part of the message of solvers for the product of empty matrices, which is zero."""

_WHEN = "for empty inputs that forward accepts"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    choices = list(_choices(subject.first.primals))
    if not choices:
        return skipped("no input has an extent to make zero")
    with warnings.catch_warnings():  # The user did not ask for empty tensors.
        warnings.simplefilter("ignore")
        runs = ((each, _run(subject, each)) for each in choices)
        meant = next((pair for pair in runs if _is_meant(subject, *pair)), None)
        if meant:
            return _asked(subject, *meant, is_meant=True)
        axes = max(choices, key=len)
        return _asked(subject, axes, _run(subject, axes), is_meant=False)


def _run(subject: Subject, axes: Axes) -> Observation:
    """A call with these axes empty, and backward where forward has a result to start from."""
    empty = _shortened(subject.first.primals, axes, 0)

    def choose(forward: Observation) -> Sequence[Array | None] | None:
        return None if _refused(forward) else _ones(forward)

    return subject.function.call(empty, choose)


def _refused(seen: Observation) -> str | None:
    """The reason why there is nothing to send back through empty outputs."""
    if seen.failure and seen.failure.stage == "forward":
        return "forward does not accept empty inputs"
    if all(c is None for c in _ones(seen)):
        return "no output requires a gradient for empty inputs"
    if any(o is not None and not np.isfinite(o).all() for o in seen.outputs):
        return "forward has no finite result for empty inputs"
    return None


def _asked(subject: Subject, axes: Axes, seen: Observation, *, is_meant: bool) -> Answer:
    refused = _refused(seen)
    if refused:
        return passed(refused)
    flaw = failure_of_run(seen, _WHEN, _HINT)
    if not flaw:
        return passed()
    if not is_meant or _AMBIGUOUS in flaw.message or _SINGULAR in flaw.message:
        return failed(replace(flaw, severity=Severity.NOTE))
    if _raises_for_one(subject, axes):
        return passed("backward does not accept an extent of one either")
    if not is_of_batch(subject, axes, _emptied(subject, seen)):
        return failed(replace(flaw, severity=Severity.NOTE))
    return failed(flaw)


def _emptied(subject: Subject, seen: Observation) -> Axes:
    """The axes of the outputs that are empty where they were not."""
    before = subject.first.forward.outputs
    return frozenset(
        (i, axis)
        for i, (one, other) in enumerate(zip(before, seen.outputs, strict=True))
        if one is not None and other is not None and one.ndim == other.ndim
        for axis in range(one.ndim)
        if one.shape[axis] != other.shape[axis]
    )


def _raises_for_one(subject: Subject, axes: Axes) -> bool:
    """Return True if backward also fails when that extent is one."""
    single = _shortened(subject.first.primals, axes, 1)
    forward = subject.function.call(single)
    if forward.failure:
        return False
    return subject.function.call(single, _ones(forward)).failure is not None


def _choices(primals: Sequence[Array]) -> Iterator[Axes]:
    """The axes that may be meant by the first extent of the first input, the likeliest first.

    The leading ones of that extent; the first alone; and all, which may be equal by accident.
    """
    first = next((i for i, p in enumerate(primals) if p.ndim and is_continuous(p.dtype)), None)
    if first is None or not (extent := primals[first].shape[0]):
        return
    axes = {(i, axis) for i, p in enumerate(primals) for axis in range(p.ndim)}
    equal = {(i, axis) for i, axis in axes if primals[i].shape[axis] == extent}
    leading = {(i, axis) for i, axis in equal if axis == 0}
    yield from dict.fromkeys(map(frozenset, (leading, {(first, 0)}, equal)))


def _is_meant(subject: Subject, axes: Axes, empty: Observation) -> bool:
    """Return True if these are one axis of every output, which nothing sums over or broadcasts.

    A reduced axis leaves an output of its shape, a window or a convolution one that is not empty,
    and two axes that are one by accident shorten an output twice. The same must happen where the
    extent is only shorter by one.
    """
    if any(output is not None and output.size for output in empty.outputs):
        return False
    primals = subject.first.primals
    argument, axis = next(iter(axes))
    extent = primals[argument].shape[axis]
    before = subject.first.forward.outputs
    if not _shortens_one_axis(before, empty) or extent == 1:
        return _shortens_one_axis(before, empty)
    shorter = subject.function.call(_shortened(primals, axes, extent - 1))
    return _shortens_one_axis(before, shorter)


def _shortens_one_axis(before: Sequence[Array | None], after: Observation) -> bool:
    raised = after.failure and after.failure.stage == "forward"
    if raised or len(after.outputs) != len(before):
        return False
    return all(
        one.ndim == other.ndim and sum(map(int.__ne__, one.shape, other.shape)) == 1
        for one, other in zip(before, after.outputs, strict=True)
        if one is not None and other is not None and is_continuous(one.dtype)
    )


def _ones(forward: Observation) -> list[Array | None]:
    """A cotangent of ones for each output that has a graph."""
    return [
        np.ones_like(output)
        if output is not None and is_continuous(output.dtype) and graphed
        else None
        for output, graphed in zip(forward.outputs, forward.output_requires_grad, strict=True)
    ]


def _shortened(primals: Sequence[Array], axes: Axes, length: int) -> list[Array]:
    """The primals with these axes cut to `length`."""
    return [
        np.array(p[tuple(slice(length if (i, k) in axes else None) for k in range(p.ndim))])
        for i, p in enumerate(primals)
    ]


RULE = Rule(
    code="GT113",
    name="breaks-when-empty",
    summary="Backward breaks for empty tensors that forward accepts.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=("GT101", "GT106", "GT109", "GT112"),
    check=_check,
)
