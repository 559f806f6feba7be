"""An undefined cotangent is not treated as zero.

What it does
------------

Leaves the cotangent of each output undefined in turn, then of all of them, and compares the
gradients and second derivatives with those for cotangents of zeros. With
``ctx.set_materialize_grads(False)`` an undefined cotangent reaches backward as None.

Why it matters
--------------

An output that the loss does not use has no cotangent. In the first model that uses only one of two
outputs, ``None * x`` raises.

Wrong example
-------------

    from gradtool import Function


    class Pair(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g1, g2):
            return g1 * 2 + g2 * 3

Right example
-------------

    from gradtool import Function


    class Pair(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g1, g2):
            parts = [g * k for g, k in ((g1, 2), (g2, 3)) if g is not None]
            return sum(parts) if parts else None

How to fix
----------

Test each cotangent for None before using it, or drop ``set_materialize_grads(False)``, so that
autograd passes zeros.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html#how-to-use
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.protocol.observation import Array, Observation
from gradtool.verify.randomness import generator
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.rules._runs import failure_of_run, gradient_difference

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_HINT = "test each cotangent for None, or do not call set_materialize_grads(False)"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_check:
        return skipped(subject.nothing_to_check)
    for when, undefined in _cases(subject):
        flaw = _flaw(subject, when, undefined)
        if flaw:
            return failed(flaw)
    return passed()


def _cases(subject: Subject) -> Iterator[tuple[str, frozenset[int]]]:
    given = sorted(_defined(subject.first.cotangents))
    if len(given) > 1:
        for output in given:
            yield f"when the cotangent of output {output} is undefined", frozenset([output])
    yield "when no cotangent is defined", frozenset(given)


def _defined(cotangents: Sequence[Array | None]) -> frozenset[int]:
    return frozenset(i for i, cotangent in enumerate(cotangents) if cotangent is not None)


def _flaw(subject: Subject, when: str, undefined: frozenset[int]) -> Flaw | None:
    cotangents = subject.first.cotangents
    rows: list[list[Array | None]] = [
        [None if i in undefined else c for i, c in enumerate(cotangents)],
        [
            np.zeros_like(c) if c is not None and i in undefined else c
            for i, c in enumerate(cotangents)
        ],
    ]
    without = subject.function.call(subject.first.primals, rows[0])
    flaw = failure_of_run(without, when, _HINT)
    if flaw or without.gradients is None:
        return flaw
    zeros = _gradients(subject, rows[1], is_zero=undefined >= _defined(cotangents))
    if zeros is None:
        return None
    flaw = gradient_difference(subject, without.gradients, zeros, when, _HINT)
    once = subject.function.declares_once_differentiable
    if flaw or once or without.materializes or undefined >= _defined(cotangents):
        return flaw
    return _second_flaw(subject, f"in double backward {when}", rows)


def _gradients(
    subject: Subject, row: Sequence[Array | None], *, is_zero: bool
) -> Sequence[Array | None] | None:
    """The gradients for a cotangent; those for zero may be known."""
    if is_zero and subject.gradients_for_zero is not None:
        return subject.gradients_for_zero
    return subject.function.call(subject.first.primals, row).gradients


def _second_flaw(subject: Subject, when: str, rows: list[list[Array | None]]) -> Flaw | None:
    """The same question of the second derivatives, which the shortcut for None may cut."""
    without, zeros = (_second(subject, row) for row in rows)
    if zeros.failure and zeros.failure.kind != "no-graph":
        return None
    if without.failure and without.failure.kind != "no-graph":
        return failure_of_run(without, when, _HINT)
    count = len(subject.first.primals)
    found, expected = ((each.gradients or (None,) * count)[:count] for each in (without, zeros))
    return gradient_difference(subject, found, expected, when, _HINT)


def _second(subject: Subject, row: list[Array | None]) -> Observation:
    """A call to the map from inputs and cotangents to gradients, and to its backward."""
    point = [*subject.first.primals, *(each for each in row if each is not None)]
    rng = generator(subject.seed, "undefined")
    inputs = [subject.first.primals[i] for i in subject.first.inputs]
    weights = [rng.standard_normal(each.shape).astype(each.dtype) for each in inputs]
    return subject.function.backward_map(row).call(point, weights)


RULE = Rule(
    code="GT108",
    name="undefined-cotangent",
    summary="An undefined cotangent is not treated as zero.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=("GT101", "GT106", "GT107"),
    check=_check,
)
