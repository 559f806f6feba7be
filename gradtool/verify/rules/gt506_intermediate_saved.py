"""An intermediate is saved, which makes double backward wrong at other points.

What it does
------------

Runs when forward saves a tensor that is neither an input nor an output, backward is not declared
``once_differentiable``, and the second derivative is right at the point of the case. Backward is
then differentiated at other points: smaller, larger, of opposite sign, and some distance away. A
mask or a permutation is constant around each point, and is allowed.

Why it matters
--------------

Autograd treats a saved intermediate as a constant. If the gradient depends on it smoothly, double
backward silently leaves out a term, which happens to be zero at the point of the case.

Wrong example
-------------

    from gradtool import Function, tensor


    class Huber(Function):
        @staticmethod
        def forward(ctx, x):
            clipped = x.clamp(-1, 1)
            ctx.save_for_backward(clipped)
            return clipped * (x - clipped / 2)

        @staticmethod
        def backward(ctx, grad_output):
            (clipped,) = ctx.saved_tensors
            return grad_output * clipped

        @staticmethod
        def sample_inputs():
            yield (tensor([2.0, -3.0, 4.0], requires_grad=True),)

Right example
-------------

    from gradtool import Function, tensor


    class Huber(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            clipped = x.clamp(-1, 1)
            return clipped * (x - clipped / 2)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * x.clamp(-1, 1)

        @staticmethod
        def sample_inputs():
            yield (tensor([2.0, -3.0, 4.0], requires_grad=True),)

How to fix
----------

Save the input and recompute the intermediate in backward, or return it as another output and save
that, or decorate backward with ``@once_differentiable``.

Reference
---------

https://pytorch.org/tutorials/intermediate/custom_function_double_backward_tutorial.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.oracle.spot_check import looks_wrong
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.randomness import generator, shifted
from gradtool.verify.rules._judged import (
    DECLARED,
    ONCE,
    nothing_to_differentiate,
    saved_intermediate,
    treated_as_constant,
)
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.thresholds.rules import (
    INTERMEDIATE_LOOKS,
    OTHER_POINT_FACTORS,
    OTHER_POINT_SHIFT,
)
from gradtool.verify.wording import listed

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import Array
    from gradtool.verify.subject import Subject


def _check(subject: Subject) -> Answer:
    if subject.function.declares_once_differentiable:
        return passed(DECLARED)
    reason = nothing_to_differentiate(subject)
    if reason:
        return skipped(reason)
    if not saved_intermediate(subject):
        return passed()
    for point in _other_points(subject):
        names = _wrong(subject, point)
        if names:
            return failed(_flaw(subject, names, point))
    return passed("the second derivative is right anyway")


def _other_points(subject: Subject) -> Iterator[list[Array]]:
    for factor in OTHER_POINT_FACTORS:
        yield [
            np.asarray(primal * factor, dtype=primal.dtype)
            if is_continuous(primal.dtype)
            else primal
            for primal in subject.given.at.primals
        ]
    rng = generator(subject.seed, "another point")
    yield shifted(
        subject.given.at.primals, OTHER_POINT_SHIFT, rng
    )  # No multiple of zero is another point.


def _wrong(subject: Subject, point: list[Array]) -> list[str]:
    """Names of the arguments by which the derivative of backward is wrong at `point`."""
    second = subject.second_at(point)
    try:
        with np.errstate(all="ignore"):
            looks = range(subject.seed, subject.seed + INTERMEDIATE_LOOKS)
            if not any(looks_wrong(second.function, second.primals, look) for look in looks):
                return []
            if second.failure:
                return []
            comparisons = [second.comparison(argument) for argument in second.inputs]
    except Exception:  # The user's code need not be defined here, and may raise anything.
        return []
    return [
        f"`{second.function.arguments[each.argument].name}`"
        for each in comparisons
        if (each.decision == Decision.FAIL).any()
    ]


def _flaw(subject: Subject, names: list[str], point: list[Array]) -> Flaw:
    where = ", ".join(
        f"{argument.name} = {np.array2string(primal.ravel()[:3], precision=3, separator=', ')}"
        f"{'...' if primal.size > 3 else ''}"
        for argument, primal in zip(subject.function.arguments, point, strict=True)
        if argument.differentiable
    )
    saved, noun, pronoun = treated_as_constant(subject)
    return Flaw(
        message=f"forward saves {saved}, which autograd treats as {noun}: the second derivative "
        f"with respect to {listed(names)} is right here but wrong at {where}",
        hint=f"recompute {pronoun} in backward, return {pronoun} as an output, or use {ONCE}",
    )


RULE = Rule(
    code="GT506",
    name="intermediate-saved",
    summary="An intermediate is saved, which makes double backward wrong at other points.",
    severity=Severity.WARNING,
    page=__doc__,
    traced=False,
    blames=("setup_context", "forward"),
    premises=("GT101", "GT106", "GT201", "GT202", "GT203"),
    check=_check,
)
