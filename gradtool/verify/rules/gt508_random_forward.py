"""Two calls to forward with the same arguments differ.

What it does
------------

Calls forward twice with the same arguments. The global generators of Python, NumPy and the engine
are seeded identically before each call, so a Function that draws from them, such as dropout, is not
reported.

Why it matters
--------------

A function that changes from call to call has no derivative, so no gradient of it can be verified.
A run cannot be repeated, and recomputing forward in backward, as checkpointing does, gives the
gradient of something else.

Wrong example
-------------

    from gradtool import Function

    import numpy


    class Jitter(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.scale = numpy.random.default_rng().uniform(1, 2)
            return x * ctx.scale

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.scale

Right example
-------------

    from gradtool import Function, randn


    class Jitter(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.scale = 1 + abs(randn(()).item())
            return x * ctx.scale

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.scale

How to fix
----------

Draw from the engine's generator (``torch.rand``, ``torch.randn``, ``torch.bernoulli``), which
``torch.manual_seed`` controls. Let the result depend only on the arguments: not on the time, the
address of an object, the order of a set, or earlier calls.

Reference
---------

https://pytorch.org/docs/stable/notes/randomness.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.rules._contract import CALLS
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.rules._runs import all_same, same
from gradtool.verify.thresholds.rules import RANDOM_FORWARD_SEED
from gradtool.verify.wording import apart

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import Array
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    again = subject.outputs_again
    if again is not None and all_same(again, subject.first.forward.outputs):
        return passed()
    flaws = tuple(_flaws(_output(subject), _output(subject)))
    if flaws and subject.first.forward.buffers_changed_in_forward:
        return skipped("forward changes a buffer that its result depends on")
    return failed(*flaws) if flaws else passed()


def _output(subject: Subject) -> tuple[Array | None, ...]:
    with subject.function.seeded(RANDOM_FORWARD_SEED):
        outputs = subject.function.evaluate(subject.first.primals)
    return tuple(None if output is None else np.array(output) for output in outputs)


def _flaws(first: tuple[Array | None, ...], second: tuple[Array | None, ...]) -> Iterator[Flaw]:
    hint = "draw random numbers from the engine, and let the result depend only on the arguments"
    for number, (one, other) in enumerate(zip(first, second, strict=False)):
        if not same(one, other):
            yield Flaw(
                message=f"two calls to forward with the same arguments and the same seed differ"
                f" in output {number}{_how(one, other)}",
                hint=hint,
            )
            return


def _how(one: Array | None, other: Array | None) -> str:
    """Two entries that differ, where there are some to show."""
    if one is None or other is None or one.shape != other.shape or one.dtype.kind not in "fiu":
        return ""
    place = np.unravel_index(np.argmax(~np.isclose(one, other, rtol=1e-9, atol=0)), one.shape)
    first, second = apart(float(one[place]), float(other[place]))
    at = f" at [{', '.join(map(str, place))}]" if place else ""
    return f"{at}: {first}, then {second}"


RULE = Rule(
    code="GT508",
    name="random-forward",
    summary="Two calls to forward with the same arguments differ.",
    severity=Severity.ERROR,
    page=__doc__,
    blames=("forward",),
    premises=CALLS,
    check=_check,
)
