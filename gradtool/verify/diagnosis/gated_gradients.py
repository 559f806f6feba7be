"""Recognizes gradients that depend on the cotangent otherwise than linearly, on purpose.

Clipping, noise and the loss that a router adds change the gradient of a tensor that forward passes
on unchanged. Guided backpropagation and the bounds of learnt compression let a gradient pass by
its sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.diagnosis.forward_at_far_points import is_passed_on
from gradtool.verify.protocol.observation import Array
from gradtool.verify.thresholds.rules import FAR_COTANGENT_FACTORS

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison
    from gradtool.verify.subject import Subject

Gradients = Sequence[Array | None]

CHANGED = "a gradient changed on purpose"
INJECTED = "a loss injected into the gradient"
GATED = "a gradient gated by its sign"
RANDOM = "a random gradient"


def not_linear(subject: Subject) -> dict[int, str]:
    """Name the gradients that are not linear in the cotangent, by argument.

    None is found where one of them has no reason in forward, or is not finite.
    """
    plain, negated, larger, zero = (subject.scaled[factor] for factor in (1.0, -1.0, 8.0, 0.0))
    found = {}
    if not is_steady(subject) or not all(g is None or np.isfinite(g).all() for g in plain):
        return {}
    for argument in _not_linear(subject, plain, (negated, -1.0), (larger, 8.0), (zero, 0.0)):
        if is_passed_on(subject, argument):
            found[argument] = CHANGED
        elif _is_injected(subject, argument, plain[argument], zero[argument]):
            found[argument] = INJECTED
        elif _is_gated(subject, argument, plain[argument], negated[argument]):
            found[argument] = GATED
        else:
            return {}
    return found or _clipped(subject, plain)


def _clipped(subject: Subject, plain: Gradients) -> dict[int, str]:
    """Name the gradients of what forward passes on that are clipped far out only."""
    passed_on = [i for i in subject.first.inputs if is_passed_on(subject, i)]
    if not passed_on:
        return {}
    factor = max(FAR_COTANGENT_FACTORS)
    larger = [
        None if each is None else np.asarray(factor * each, each.dtype)
        for each in subject.first.cotangents
    ]
    try:
        (found,) = subject.function.vjps(subject.first.primals, [larger])
    except Exception:  # What the user's backward may raise has no bounds.
        return {}
    bent = [i for i in passed_on if not _same(plain[i], found[i], factor)]
    return dict.fromkeys(bent, CHANGED)


def random(subject: Subject) -> dict[int, str]:
    """Name the gradients that two runs of backward give differently, by argument.

    None is found unless forward passes the argument on and the generators decide the gradient.
    """
    if isinstance(subject.repeated, str) or is_steady(subject):
        return {}
    runs = []
    for seed in (1, 1, 2):
        with subject.function.seeded(seed):
            (run,) = subject.function.vjps(subject.first.primals, [subject.first.cotangents])
        runs.append(run)
    if not _agree(subject, runs[0], runs[1]):
        return {}
    differing = [i for i in subject.first.inputs if not _same(runs[0][i], runs[2][i], 1.0)]
    return dict.fromkeys(differing, RANDOM) if _are_passed_on(subject, differing) else {}


def is_steady(subject: Subject) -> bool:
    """Return True if two runs of backward give the same gradients."""
    return not isinstance(subject.repeated, str) and _agree(subject, *subject.repeated)


def _agree(subject: Subject, one: Gradients, other: Gradients) -> bool:
    return all(_same(one[i], other[i], 1.0) for i in subject.first.inputs)


def _not_linear(
    subject: Subject, plain: Gradients, *others: tuple[Gradients, float]
) -> Iterable[int]:
    return [
        argument
        for argument in subject.first.inputs
        if not all(_same(plain[argument], row[argument], factor) for row, factor in others)
    ]


def _same(plain: Array | None, found: Array | None, factor: float) -> bool:
    if plain is None or found is None:
        return plain is found
    # Far more than the roundings of any backward: GT107 and GT110 have found a difference.
    rtol = 1e4 * float(np.finfo(plain.dtype).eps)
    return plain.shape == found.shape and np.allclose(
        found, factor * plain, rtol=rtol, atol=0.0, equal_nan=True
    )


def _are_passed_on(subject: Subject, arguments: Iterable[int]) -> bool:
    return all(is_passed_on(subject, argument) for argument in arguments)


def _is_injected(subject: Subject, argument: int, plain: Array | None, zero: Array | None) -> bool:
    """Return True for a loss that no output shows, with a constant gradient of its own.

    The outputs are other arguments, passed on: the auxiliary loss of a router comes in this way.
    """
    if plain is None or not _same(plain, zero, 1.0):
        return False
    if not any(i != argument and is_passed_on(subject, i) for i in subject.first.inputs):
        return False
    comparison = subject.first.comparison(argument)
    return bool((np.abs(comparison.numeric.value) <= comparison.allowed).all())


def _is_gated(subject: Subject, argument: int, plain: Array | None, negated: Array | None) -> bool:
    """Return True for a ramp or step whose gradient passes, entry by entry, by its sign.

    Either a gate closes what the derivative lets through, or it opens what that holds back.
    """
    comparison = subject.first_in_full.comparison(argument)
    (cotangent, *others) = (c for c in subject.first.cotangents if c is not None)
    if plain is None or negated is None or others or cotangent.shape != plain.shape:
        return False
    slopes = _slopes(comparison)
    if slopes is None:
        return False
    for found, sent in ((plain, np.ravel(cotangent)), (negated, -np.ravel(cotangent))):
        got = np.ravel(found)
        if not ((got == 0) | np.isclose(got, sent, rtol=1e-9)).all():
            return False
    passes = np.array([np.ravel(plain) != 0, np.ravel(negated) != 0])
    return bool((passes <= slopes).all() or (passes >= slopes).all())


def _slopes(comparison: Comparison) -> Array | None:
    """Flag the entries of an elementwise map with slope 1; None if another slope is not 0."""
    numeric, allowed = comparison.numeric.value, comparison.allowed
    if comparison.layout.functionals is not None or numeric.shape[0] != numeric.shape[1]:
        return None
    slopes = np.diagonal(numeric)
    flags = np.isclose(slopes, 1.0, rtol=1e-6)
    is_elementwise = (np.abs(numeric - np.diag(flags.astype(float))) <= allowed).all()
    return flags if is_elementwise else None
