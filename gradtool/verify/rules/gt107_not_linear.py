"""The gradient is not linear in the cotangent.

What it does
------------

Runs backward with a random cotangent, its negative, large and small power-of-two multiples of it,
and zero. The gradients must scale in the same way. Scaling by a power of two is exact, so the only
tolerance is for rounding. A cotangent of ones is also split into two cotangents of ones and zeros,
whose gradients must add up to its own. The same is asked of a cotangent whose entries add up to
zero.

Why it matters
--------------

A gradient is always the product of the cotangent and a Jacobian. A backward with
``abs(grad_output)``, a clamp, a norm or an added constant is right only for the one cotangent it
was tried with, often all ones.

Wrong example
-------------

    from gradtool import Function


    class Clipped(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            return (grad_output * 2).clamp(-1, 1)

Right example
-------------

    from gradtool import Function


    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 2

How to fix
----------

Multiply by the cotangent exactly once, and add nothing. If the purpose of the Function is to clip
gradients, ignore this rule for it and give that as the reason. Clipping usually belongs in a hook
on the tensor.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.oracle.evaluation_timeout import EvaluationTimeout
from gradtool.verify.protocol.observation import Array
from gradtool.verify.rules._contract import KEEPS_CONTRACT
from gradtool.verify.rules._parts import difference_of_parts, times
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, reported_by, skipped
from gradtool.verify.rules._runs import gradient_difference
from gradtool.verify.rules.codes import SURROGATE
from gradtool.verify.thresholds.comparison import SINGLE_EPS
from gradtool.verify.thresholds.rules import COTANGENT_FACTORS, FAR_COTANGENT_FACTORS

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

Gradients = tuple[Array | None, ...]


_HINT = "multiply by the cotangent exactly once, and add nothing"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    others = [subject.scaled[factor] for factor in COTANGENT_FACTORS]
    plain, others = _without_constants(subject.scaled[1.0], others)
    for factor, found in zip(COTANGENT_FACTORS, others, strict=True):
        flaw = _unlike(subject, plain, found, factor)
        if flaw:
            return _reported(subject, flaw)
    flaw = difference_of_parts(subject, plain, _HINT)
    if flaw:
        return _reported(subject, flaw)
    if subject.given.worst is Decision.FAIL:
        return passed()
    flaw = _far_out(subject, plain)
    # Low precision shows at usual sizes, and underflows at small ones.
    return _reported(subject, flaw) if flaw and not _is_rough(subject) else passed()


def _reported(subject: Subject, flaw: Flaw) -> Answer:
    return reported_by(SURROGATE) if subject.not_linear or subject.random else failed(flaw)


def _is_rough(subject: Subject) -> bool:
    return bool(subject.low_precision_gradients) and not isinstance(
        subject.low_precision_gradients, str
    )


def _far_out(subject: Subject, plain: Gradients) -> Flaw | None:
    """A flaw for cotangents far larger or smaller than a loss usually sends."""
    # The cotangents, too: those of a half-precision output underflow before they are sent.
    numbers = (*plain, *subject.first.cotangents)
    factors = [each for each in FAR_COTANGENT_FACTORS if _is_in_range(numbers, each)]
    for factor, found in _far_gradients(subject, factors).items():
        kept = tuple(None if p is None else f for f, p in zip(found, plain, strict=True))
        flaw = _unlike(subject, plain, kept, factor)
        if flaw:
            return flaw
    return None


def _far_gradients(subject: Subject, factors: list[float]) -> dict[float, Gradients]:
    """The gradients for multiples of the cotangent; one by one where they fail together."""
    together = _limited(subject, factors)
    if together or len(factors) < 2:
        return together
    return {key: found for each in factors for key, found in _limited(subject, [each]).items()}


def _limited(subject: Subject, factors: list[float]) -> dict[float, Gradients]:
    rows = [times(subject.first.cotangents, factor) for factor in factors]
    try:
        with EvaluationTimeout().limited(max(1, len(rows))):
            found = subject.function.vjps(subject.first.primals, rows) if rows else []
    except Exception:  # An iteration may need cotangents of the usual size to end.
        return {}
    return dict(zip(factors, found, strict=True))


def _is_in_range(numbers: Gradients, factor: float) -> bool:
    """Return True if scaling by the factor neither overflows nor underflows on the way."""
    for array in numbers:
        largest = 0.0 if array is None else float(np.abs(array).max(initial=0.0)) * factor
        if array is None or not largest:
            continue
        info = np.finfo(array.dtype)
        with np.errstate(over="ignore"):
            fits = bool(info.tiny / info.eps < largest < info.max * info.eps)
        if info.eps > SINGLE_EPS or not fits:
            return False
    return True


def _without_constants(
    plain: Gradients, others: list[Gradients]
) -> tuple[Gradients, list[Gradients]]:
    """The gradients that change with the cotangent at all.

    In the others the cotangent was forgotten, which GT101 reports.
    """
    kept = [
        gradient is not None
        and not all(np.array_equal(gradient, _or_zeros(row[i], gradient)) for row in others)
        for i, gradient in enumerate(plain)
    ]
    chosen = [
        tuple([g if keep else None for g, keep in zip(row, kept, strict=True)])
        for row in (plain, *others)
    ]
    return chosen[0], chosen[1:]


def _or_zeros(gradient: Array | None, like: Array) -> Array:
    return np.zeros_like(like) if gradient is None else gradient


def _unlike(
    subject: Subject,
    plain: Gradients,
    found: Gradients,
    factor: float,
) -> Flaw | None:
    if not all(g is None or np.isfinite(g).all() for g in plain):
        return None
    when = f"from {factor:g} times its value when the cotangent is multiplied by {factor:g}"
    if factor == 0.0:
        when = "from zero when the cotangent is zero"
    expected = [None if g is None else np.asarray(g * factor, g.dtype) for g in plain]
    return gradient_difference(subject, found, expected, when, _HINT)


RULE = Rule(
    code="GT107",
    name="not-linear",
    summary="The gradient is not linear in the cotangent.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=(*KEEPS_CONTRACT, "GT110"),
    causes=("GT111",),
    check=_check,
)
