"""The gradients for a cotangent of ones and for one that adds up to zero, against those for parts.

A loss that is a sum sends ones, a mask sends zeros, and a loss that compares entries sends numbers
whose sum is zero. Backward may take another path for each, which random cotangents never show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.protocol.observation import Array, Cotangents
from gradtool.verify.rules._rule import Flaw
from gradtool.verify.rules._runs import Gradients, gradient_difference, jitter, slope_of_roundings
from gradtool.verify.thresholds.rules import (
    PARTS_DIFFERENCE,
    SAME_GRADIENT_JITTERS,
    SAME_GRADIENT_ROUNDINGS,
)

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_OF_PARTS = (
    "from the sum of its two parts when a cotangent of ones is split into two cotangents of ones "
    "and zeros"
)
_OF_BALANCE = (
    "from that of its two parts when a cotangent whose sum is zero is split into the positive and "
    "the negative entries"
)
_OF_ONE = "for a cotangent of 1 from the gradient for another cotangent, scaled to match"


def difference_of_parts(subject: Subject, plain: Gradients, hint: str) -> Flaw | None:
    """A flaw where the gradient for such a cotangent is not the sum of its parts; None elsewhere.

    Args:
        subject: The Function.
        plain: The gradients for the subject's own cotangent; None for those not to look at.
        hint: Advice.
    """
    own = subject.first.cotangents
    if any(each is not None and each.dtype.kind != "f" for each in own):
        return None
    size = sum(each.size for each in own if each is not None)
    halves = _halves(own) if size > 1 else []
    weights = _balance(own) if halves else ()
    balanced = [_weighted(halves, weights)] if weights else []
    try:
        rows = subject.function.vjps(subject.first.primals, [_ones(own), *halves, *balanced])
    except Exception:  # What backward may raise for such a cotangent has no bounds.
        return None
    if not halves:
        (only,) = (float(each.item()) for each in own if each is not None and each.size)
        return _flaw(subject, plain, rows[0], [times(plain, 1 / only)], _OF_ONE, hint)
    ones, *parts = rows[:3]
    flaw = _flaw(subject, plain, ones, parts, _OF_PARTS, hint)
    if flaw or not weights:
        return flaw
    weighted = [times(part, weight) for part, weight in zip(parts, weights, strict=True)]
    return _flaw(subject, plain, rows[3], weighted, _OF_BALANCE, hint)


def _flaw(
    subject: Subject,
    plain: Gradients,
    whole: Gradients,
    parts: Sequence[Gradients],
    when: str,
    hint: str,
) -> Flaw | None:
    """A flaw where the gradient for a whole cotangent is not the sum of those for its parts."""
    found, expected = list(whole), [_sum(each) for each in zip(*parts, strict=True)]
    for argument, gradient in enumerate(plain):
        of_parts = [each[argument] for each in parts]
        if gradient is None or not _are_apart(subject, argument, whole[argument], of_parts):
            found[argument] = expected[argument] = None
    return gradient_difference(subject, found, expected, when, hint, same_order=True)


def _ones(cotangents: Cotangents) -> list[Array | None]:
    return [None if each is None else np.ones_like(each) for each in cotangents]


def _halves(cotangents: Cotangents) -> list[Cotangents]:
    """Two cotangents of ones and zeros in turn, that add up to ones."""
    odd: list[Array | None] = []
    start = 0
    for each in cotangents:
        size = 0 if each is None else each.size
        numbers = np.arange(start, start + size) % 2
        odd.append(None if each is None else numbers.reshape(each.shape).astype(each.dtype))
        start += size
    return [odd, [None if each is None else np.asarray(1 - each, each.dtype) for each in odd]]


def _balance(cotangents: Cotangents) -> tuple[int, ...]:
    """Weights of the two halves, whose sum then adds up to zero; none for several outputs."""
    sizes = [each.size for each in cotangents if each is not None]
    return ((sizes[0] + 1) // 2, -(sizes[0] // 2)) if len(sizes) == 1 else ()


def _weighted(halves: Sequence[Cotangents], weights: Sequence[int]) -> Cotangents:
    rows = [times(half, weight) for half, weight in zip(halves, weights, strict=True)]
    return [_sum(each) for each in zip(*rows, strict=True)]


def times(arrays: Sequence[Array | None], factor: float) -> tuple[Array | None, ...]:
    """Return arrays times a factor, each in its own dtype; None stays None."""
    return tuple(
        [None if each is None else np.asarray(each * factor, each.dtype) for each in arrays]
    )


def _sum(parts: Sequence[Array | None]) -> Array | None:
    there = [each for each in parts if each is not None]
    with np.errstate(all="ignore"):  # Infinite ones may be of either sign.
        return np.asarray(sum(there[1:], there[0])) if there else None


def _are_apart(
    subject: Subject, argument: int, found: Array | None, parts: Sequence[Array | None]
) -> bool:
    """Return True for a finite gradient that is not the sum of its parts, nor rounding."""
    expected = _sum(parts)
    if found is None or expected is None or found.shape != expected.shape:
        return False
    with np.errstate(all="ignore"):
        difference = np.abs(found - expected).max(initial=0.0)
        size = max(np.abs(each).max(initial=0.0) for each in (found, *parts) if each is not None)
    allowed = PARTS_DIFFERENCE * size + _rounding(subject, argument)
    if not np.isfinite(size) or difference <= allowed:
        return False
    return bool(difference > SAME_GRADIENT_JITTERS * jitter(subject))  # Terms may cancel inside.


def _rounding(subject: Subject, argument: int) -> float:
    """A slope that changes no output by more than many of its roundings.

    Where terms cancel, as in a saturated softmax, nothing else may be left of a gradient.
    """
    outputs = [each for each in subject.first.forward.outputs if each is not None]
    return slope_of_roundings(subject.first.primals[argument], outputs, SAME_GRADIENT_ROUNDINGS)
