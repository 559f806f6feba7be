"""The gradient through the Function's own batching differs from that of a loop.

What it does
------------

Batches the inputs as GT401 does, sends a random cotangent of all outputs back through the batched
call, and compares the gradients with those of a separate call for each example. A backward that
raises for a batch violates this rule too. The rule is checked only if the outputs of the batch and
the gradient of one example are right.

Why it matters
--------------

If ``vmap`` passes the batch to the Function itself, ``backward`` sees one more dimension than its
author expected. A sum over all dimensions, or one without ``keepdim``, is right for one example.
For a batch it raises or, if the extents happen to fit, silently mixes examples.

Wrong example
-------------

    from gradtool import Function


    class Softmax(Function):
        @staticmethod
        def forward(x):
            return x.softmax(-1)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad_output):
            (y,) = ctx.saved_tensors
            return y * (grad_output - (grad_output * y).sum())

        @staticmethod
        def vmap(info, in_dims, x):
            return Softmax.apply(x.movedim(in_dims[0], 0)), 0

        @staticmethod
        def sample_inputs():
            import gradtool.engine as torch

            yield (torch.randn(4, dtype=torch.float64, requires_grad=True),)

Right example
-------------

    from gradtool import Function


    class Softmax(Function):
        @staticmethod
        def forward(x):
            return x.softmax(-1)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad_output):
            (y,) = ctx.saved_tensors
            return y * (grad_output - (grad_output * y).sum(-1, keepdim=True))

        @staticmethod
        def vmap(info, in_dims, x):
            return Softmax.apply(x.movedim(in_dims[0], 0)), 0

        @staticmethod
        def sample_inputs():
            import gradtool.engine as torch

            yield (torch.randn(4, dtype=torch.float64, requires_grad=True),)

How to fix
----------

In ``backward``, count dimensions from the end and sum with ``keepdim=True``, or let ``vmap`` call a
second Function that is written for batches.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.func.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.protocol.observation import Array, Cotangents
from gradtool.verify.randomness import generator, signed
from gradtool.verify.rules._batches import Batch, batchable, batches
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, not_offered, passed, skipped
from gradtool.verify.rules._runs import gradient_difference
from gradtool.verify.rules.gt401_wrong_vmap import NO_VMAP

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = "make backward work with an extra leading dimension: dim=-1, keepdim=True"

_CUT = "in vmap, avoid detach, .data, no_grad and NumPy, or call the Function's apply"


def _check(subject: Subject) -> Answer:
    if not subject.function.defines_vmap:
        return not_offered(NO_VMAP)
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    if not batchable(subject):
        return skipped("no argument can be batched")
    for batch in batches(subject):
        flaw = _differs(subject, batch)
        if flaw:
            return failed(flaw)
    return passed()


def _differs(subject: Subject, batch: Batch) -> Flaw | None:
    rows = _cotangents(subject, len(batch.examples))
    try:
        loop = [
            subject.function.vjps(example, [row])[0]
            for example, row in zip(batch.examples, rows, strict=True)
        ]
    except Exception:  # A point that the Function does not take says nothing about vmap.
        return None
    when = f"through vmap with in_dims={batch.in_dims}, for {len(rows)} examples"
    sent = [None if column[0] is None else _stack(column) for column in zip(*rows, strict=True)]
    try:
        found = subject.function.vmapped_vjp(batch.stacked, batch.in_dims, sent)
    except Exception as error:  # What the user's code may raise has no bounds.
        message = f"backward {when}, raised {type(error).__name__}: {error}"
        return Flaw(message=message, hint=_HINT)
    if all(gradient is None for gradient in found):
        return Flaw(message=f"no gradient comes back {when}", hint=_CUT, method="vmap")
    return gradient_difference(subject, found, _gathered(batch, loop), when, _HINT)


def _cotangents(subject: Subject, count: int) -> list[Cotangents]:
    layout = subject.first.layout
    rng = generator(subject.seed, "cotangents of examples")
    return [layout.cotangents(signed(rng, layout.outputs.size)) for _ in range(count)]


def _gathered(batch: Batch, loop: Sequence[Sequence[Array | None]]) -> list[Array | None]:
    """The gradients of the batch: stacked, or summed where the examples share an argument."""
    found: list[Array | None] = []
    for column, dim in zip(zip(*loop, strict=True), batch.in_dims, strict=True):
        if any(each is None for each in column):
            found.append(None)
        else:
            found.append(_stack(column).sum(axis=0) if dim is None else _stack(column, dim))
    return found


def _stack(column: Sequence[Array | None], axis: int = 0) -> Array:
    return np.stack([np.asarray(each) for each in column], axis=axis)


RULE = Rule(
    code="GT403",
    name="wrong-gradient-through-vmap",
    summary="The gradient through the Function's own batching differs from that of a loop.",
    severity=Severity.ERROR,
    page=__doc__,
    blames=("backward", "vjp", "forward", "vmap"),
    premises=("GT101", "GT106", "GT401", "GT402"),
    check=_check,
)
