"""Calls interfere: one call changes the result of another.

What it does
------------

Makes two calls, both forwards before both backwards, and compares each with the same call made
alone. Tries three kinds of second call: at a nearby point; with the entries in another order, other
numeric arguments and other random numbers; and with another shape. Four more things violate this
rule: outputs that change after forward has returned; gradients that change after backward has
returned; a wrong gradient at a nearby point that equals the gradient of the first call; and a stale
result when the same tensors are passed again after an optimizer has changed their values.

Why it matters
--------------

A layer that is used twice in a model makes exactly these calls. With state on the class or in the
module, or reused buffers, the first call gets the values of the second.

Wrong example
-------------

    from gradtool import Function, once_differentiable


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            Square.x = x.detach().clone()
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad_output):
            return grad_output * 2 * Square.x

Right example
-------------

    from gradtool import Function


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 2 * x

How to fix
----------

Keep what backward needs on ctx, which is new for each call, not on the class or in a global.
Return new tensors, not a buffer that the next call overwrites.

Reference
---------

https://pytorch.org/docs/stable/notes/extending.html
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Severity
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.derivatives import Derivatives
from gradtool.verify.interference import InterferingCall, interfering_calls
from gradtool.verify.oracle.spot_check import looks_wrong
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.randomness import generator, shifted
from gradtool.verify.rules._contract import KEEPS_CONTRACT
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.rules._runs import (
    Gradients,
    differing_entries,
    failure_of_run,
    gradient_difference,
)
from gradtool.verify.thresholds.rules import LATER_CALL_LOOKS, LATER_CALL_SHIFT
from gradtool.verify.wording import listed

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import Array, Observation
    from gradtool.verify.subject import Subject

_CACHE_HINT = "do not cache by identity or address: a tensor keeps both when its values change"
_HINT = "keep what backward needs on ctx, not on the class or in a reused buffer"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    with warnings.catch_warnings():  # The user did not ask for the other call.
        warnings.simplefilter("ignore")
        others = list(interfering_calls(subject))
        # All at once first: only where something shows does it matter which call it was.
        if others and _met(subject, others):
            found = (_met(subject, [other]) for other in others if _is_repeatable(other))
            flaw = next((each for each in found if each), None)
        else:
            flaw = None
        flaw = flaw or _stale(subject, others) or _cached(subject)
    return failed(flaw) if flaw else passed()


def _met(subject: Subject, others: Sequence[InterferingCall]) -> Flaw | None:
    """A flaw when the `others` between forward and backward of the case's call change something."""
    with subject.function.objects_restored():
        first, *seen = subject.function.interleaved(
            [subject.first.primals, *(other.primals for other in others)],
            [subject.first.cotangents, *(other.cotangents for other in others)],
            [other.function for other in others],
        )
    when = f"when another call{others[0].how} runs between forward and backward"
    flaws = (failure_of_run(each, when, _HINT) for each in (first, *seen))
    flaw = next(filter(None, flaws), None) or _overwritten(subject, first)
    if flaw is None and first.gradients is not None:
        baseline = subject.first.baseline.gradients or ()
        flaw = _changed(subject, first.gradients, baseline, when)
        for each, other in zip(seen, others, strict=True):
            if flaw is None and each.gradients is not None:
                flaw = _changed(subject, each.gradients, other.gradients, when)
    return flaw


def _is_repeatable(other: InterferingCall) -> bool:
    """Return True unless a call by itself changes the next one, as one that updates an object."""
    with other.function.objects_restored():
        again = other.function.call(other.primals, other.cotangents).gradients
    pairs = zip(again or (), other.gradients, strict=False)
    return again is not None and all(_equal(*pair) for pair in pairs)


def _stale(subject: Subject, others: Sequence[InterferingCall]) -> Flaw | None:
    """A flaw when a call at another point, by itself, wrongly gives the gradient of the first."""
    first, seed = subject.first, subject.seed
    baseline = first.baseline.gradients or ()
    nearby = next((each for each in others if each.is_nearby), None)
    if nearby is None or not _repeats(nearby.gradients, baseline):
        return None
    # A surrogate may be constant, and right only where the case is.
    if subject.recognized or {subject.given.worst, subject.withheld.worst} != {Decision.PASS}:
        return None
    point = shifted(first.primals, LATER_CALL_SHIFT, generator(seed, "a later call"))
    later = subject.function.call(point, first.cotangents).gradients
    if later is None or not _repeats(later, baseline):
        return None
    try:
        if not any(
            looks_wrong(subject.function, point, seed + look) for look in range(LATER_CALL_LOOKS)
        ):
            return None
    except Exception:  # The user's code need not be defined there.
        return None
    there = Derivatives(subject.function, point, seed=seed)
    compared = [i for i in there.inputs if i not in subject.surrogates]
    wrong = [i for i in compared if (there.comparison(i).decision == Decision.FAIL).any()]
    if not wrong:
        return None
    names = listed([f"`{subject.function.arguments[i].name}`" for i in wrong])
    return Flaw(
        message=f"gradient of {names} at another point repeats the gradient of the first call, "
        "which is wrong there",
        hint=_HINT,
    )


def _cached(subject: Subject) -> Flaw | None:
    """A flaw when a call with the same tensors does not notice that their values changed."""
    first = subject.first
    if first.forward.mutated_arguments or first.forward.declared_dirty:
        return None
    when = "when the same tensors are passed again after their values have changed"
    try:
        point, again = subject.function.call_again_after_change(first.primals, first.cotangents)
    except Exception:  # The user's code need not be defined there.
        return None
    fresh = subject.function.call(point, first.cotangents)
    if fresh.failure or fresh.gradients is None or again.gradients is None:
        return None
    outputs = list(zip(again.outputs, fresh.outputs, strict=False))
    stale = [at for at, (one, other) in enumerate(outputs) if not _same_values(one, other)]
    if stale:
        several = len(stale) > 1
        which = f"output{'s' if several else ''} {listed(stale)} of forward"
        are = "are" if several else "is"
        return Flaw(message=f"{which} {are} stale {when}", hint=_CACHE_HINT)
    return _changed(subject, again.gradients, fresh.gradients, when, _CACHE_HINT)


def _changed(
    subject: Subject, found: Gradients, expected: Gradients, when: str, hint: str = _HINT
) -> Flaw | None:
    return gradient_difference(subject, found, expected, when, hint, same_order=True)


def _same_values(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None or one.shape != other.shape:
        return one is other
    if not (is_continuous(one.dtype) and is_continuous(other.dtype)):
        return np.array_equal(one, other)
    return not differing_entries(one, other)[0].any()


def _repeats(later: Gradients, earlier: Gradients) -> bool:
    """Return True for the same gradients, if not all are zero."""
    pairs = zip(later, earlier, strict=False)
    return any(g is not None and g.any() for g in later) and all(_equal(*pair) for pair in pairs)


def _equal(one: Array | None, other: Array | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def _overwritten(subject: Subject, first: Observation) -> Flaw | None:
    if outputs := first.mutated_outputs:
        which = f"output{'s' if len(outputs) > 1 else ''} {listed(outputs)}"
        return Flaw(
            message=f"another call to forward changes {which} of the first call", hint=_HINT
        )
    if first.mutated_gradients:
        names = [f"`{subject.function.arguments[at].name}`" for at in first.mutated_gradients]
        what = f"the gradient of {listed(names)} that the first call returned"
        return Flaw(message=f"another call to backward changes {what}", hint=_HINT)
    return None


RULE = Rule(
    code="GT111",
    name="calls-interfere",
    summary="Calls interfere: one call changes the result of another.",
    severity=Severity.ERROR,
    page=__doc__,
    traced=False,
    premises=(*KEEPS_CONTRACT, "GT110"),
    check=_check,
)
