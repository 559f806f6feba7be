"""The Function under vmap differs from the Function called in a loop.

What it does
------------

Batches the inputs, all together and one at a time, along the first dimension and the last. If the
Function has its own ``vmap``, every two inputs are also batched along different dimensions, such as
``in_dims=(0, 1)`` and ``(1, None)``. Tries batch sizes that equal an extent and one that does not.
Computes the batch with the Function's own ``vmap``, or the one that ``generate_vmap_rule`` derives,
and compares each example with a call of its own. A ``vmap`` that raises violates this rule too. A
Function that declares neither is not checked.

Why it matters
--------------

Per-example gradients, ensembles and ``jacrev`` call ``vmap``. A ``vmap`` that ignores an entry of
``in_dims``, or takes the entry of one argument for another, works only for the call that its author
tried.

Wrong example
-------------

    from gradtool import Function


    class Scale(Function):
        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors
            return grad_output * y, grad_output * x

        @staticmethod
        def vmap(info, in_dims, x, y):
            return Scale.apply(x, y), 0

Right example
-------------

    from gradtool import Function


    class Scale(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors
            return grad_output * y, grad_output * x

How to fix
----------

For each argument, ``in_dims`` gives the dimension of the examples, or None. Move that dimension to
the front, add a dimension of size one to arguments that have none, and return, as the second value,
the position of that dimension in each result. If the methods use only tensor operations, set
``generate_vmap_rule = True`` instead.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.func.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Evidence, Severity
from gradtool.verify.diagnosis.evidence import scalar
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array
from gradtool.verify.rules._batches import Batch, batchable, batches
from gradtool.verify.rules._contract import RUNS
from gradtool.verify.rules._placings import InDims
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, not_offered, passed, skipped
from gradtool.verify.thresholds.rules import VMAP_ROUNDINGS
from gradtool.verify.wording import number

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

NO_VMAP = "no vmap"

_HINT = "take the batch dimension of each argument from its in_dims entry"


def _check(subject: Subject) -> Answer:
    if not subject.function.defines_vmap:
        return not_offered(NO_VMAP)
    if not batchable(subject):
        return skipped("no argument can be batched")
    for batch in batches(subject):
        flaw = _differs(subject, batch)
        if flaw:
            return failed(flaw)
    return passed()


def _differs(subject: Subject, batch: Batch) -> Flaw | None:
    try:
        loop = [subject.function.evaluate(example) for example in batch.examples]
    except Exception:  # A point that forward does not take says nothing about vmap.
        return None
    try:
        batched = subject.function.vmapped(batch.stacked, batch.in_dims)
    except Exception as error:  # What the user's vmap may raise has no bounds.
        return Flaw(
            message=f"vmap with in_dims={batch.in_dims} raised {type(error).__name__}: {error}",
            hint=_HINT if len({*batch.in_dims}) > 1 else None,
        )
    return _compared(batched, loop, batch.in_dims)


def _compared(
    batched: Sequence[Array | None], loop: Sequence[Sequence[Array | None]], in_dims: InDims
) -> Flaw | None:
    if len(batched) != len(loop[0]):
        return Flaw(
            message=f"vmap with in_dims={in_dims} returns {_outputs(len(batched))}, "
            f"the loop {_outputs(len(loop[0]))}"
        )
    for output, found in enumerate(batched):
        expected = [example[output] for example in loop]
        if found is None or any(each is None for each in expected):
            continue
        reference = np.stack([np.asarray(each) for each in expected])
        if found.shape != reference.shape:
            return Flaw(
                message=f"vmap with in_dims={in_dims} gives output {output} the shape "
                f"{found.shape}, but the loop gives {reference.shape}"
            )
        flaw = _values_differ(found, reference, output, in_dims)
        if flaw:
            return flaw
    return None


def _outputs(count: int) -> str:
    return f"{count} {'output' if count == 1 else 'outputs'}"


def _values_differ(found: Array, reference: Array, output: int, in_dims: InDims) -> Flaw | None:
    continuous = is_continuous(reference.dtype)
    eps = epsilon(reference.dtype) if continuous else 0.0
    with np.errstate(all="ignore"):
        size = np.abs(reference[np.isfinite(reference)]).max(initial=0.0) if continuous else 0
        allowed = float(VMAP_ROUNDINGS * eps * size)
        difference = np.abs(found - reference) if continuous else found != reference
        wrong = ~((difference <= allowed) | (found == reference) | _both_nan(found, reference))
    if not wrong.any():
        return None
    worst = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return Flaw(
        message=f"vmap with in_dims={in_dims} differs from the loop in {wrong.sum()} of "
        f"{wrong.size} entries of output {output}; example {int(worst[0])}: "
        f"vmap gives {number(found[worst].real)}, the loop {number(reference[worst].real)}",
        hint=_HINT,
        evidence=Evidence(
            output=output,
            output_index=tuple(int(i) for i in worst),
            analytic=scalar(float(found[worst].real)),
            numeric=scalar(float(reference[worst].real)),
            tolerance=scalar(allowed),
            wrong=int(wrong.sum()),
            compared=wrong.size,
        ),
    )


def _both_nan(found: Array, reference: Array) -> Array:
    return np.asarray((found != found) & (reference != reference))


RULE = Rule(
    code="GT401",
    name="wrong-vmap",
    summary="The Function under vmap differs from the Function called in a loop.",
    severity=Severity.ERROR,
    page=__doc__,
    only_runner_of="vmap",
    blames=("vmap", "forward"),
    proves="batching",
    premises=RUNS,
    check=_check,
)
