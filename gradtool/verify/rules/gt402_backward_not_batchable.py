"""The methods are declared to be batchable, but backward raises or is wrong for a batch.

What it does
------------

For a Function with ``generate_vmap_rule = True``, passes several random cotangents to backward at
once, as ``jacrev`` and per-example gradients do, and compares the gradients with those of a
separate run for each cotangent. The rule is checked only if the gradient itself is right.

Why it matters
--------------

``vmap`` of a gradient runs backward on batched tensors. A backward that goes through NumPy, calls
``.item()`` or branches on values raises in the code of anyone who relied on the flag.

Wrong example
-------------

    from gradtool import Function, once_differentiable
    import gradtool.engine as torch


    class Exp(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        @once_differentiable
        def backward(ctx, grad_output):
            (y,) = ctx.saved_tensors
            return torch.from_numpy(grad_output.numpy() * y.detach().numpy())

Right example
-------------

    from gradtool import Function


    class Exp(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad_output):
            (y,) = ctx.saved_tensors
            return grad_output * y

How to fix
----------

Write backward with tensor operations on what it receives and what was saved. If it must use NumPy
or a kernel, drop the flag and write a ``vmap`` method.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.func.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, not_offered, passed, skipped
from gradtool.verify.rules._runs import differing_entries
from gradtool.verify.thresholds.rules import BATCHED_COTANGENTS

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if not subject.function.generates_vmap:
        return not_offered("no generate_vmap_rule")
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    layout = subject.first.layout
    rng = generator(subject.seed, "batched cotangents")
    rows = [layout.cotangents(signed(rng, layout.outputs.size)) for _ in range(BATCHED_COTANGENTS)]
    primals = subject.function.primals
    stacked = [
        None if column[0] is None else np.stack([np.asarray(each) for each in column])
        for column in zip(*rows, strict=True)
    ]
    batched = subject.function.vjps_many(primals, stacked)
    if not batched.batched:
        return failed(
            Flaw(
                message=f"generate_vmap_rule is set, but backward cannot be batched: "
                f"{batched.reason}",
                hint="use tensor operations only, or write a vmap method",
            )
        )
    flaw = _compared(subject, batched.arrays, subject.function.vjps(primals, rows))
    return failed(flaw) if flaw else passed()


def _compared(
    subject: Subject, batched: tuple[Array | None, ...], loop: list[tuple[Array | None, ...]]
) -> Flaw | None:
    for index, (found, argument) in enumerate(
        zip(batched, subject.function.arguments, strict=True)
    ):
        expected = [row[index] for row in loop]
        if found is None or any(each is None for each in expected):
            continue
        reference = np.stack([np.asarray(each) for each in expected])
        wrong, _, _ = differing_entries(found, reference)
        if wrong.any():
            return Flaw(
                message=f"gradient of `{argument.name}` for a batch of cotangents differs from "
                f"that of separate runs of backward, in {wrong.sum()} of {wrong.size} entries",
                hint="backward must treat each cotangent of a batch like a single one",
            )
    return None


RULE = Rule(
    code="GT402",
    name="backward-not-batchable",
    summary="The Function says that its methods can be batched, but its backward cannot.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=("GT101", "GT106"),
    check=_check,
)
