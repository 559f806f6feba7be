"""Recognises gradients that depend on the cotangent otherwise than linearly, on purpose.

Clipping, noise and the loss that a router adds change the gradient of a tensor that forward passes
on unchanged. Guided backpropagation and the bounds of learnt compression let a gradient pass by
its sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradtool.verify.protocol.observation import Array

if TYPE_CHECKING:
    from gradtool.verify.comparison.derivatives import Comparison
    from gradtool.verify.subject import Subject

Gradients = Sequence[Array | None]

CHANGED = "a gradient changed on its way"
INJECTED = "a loss injected into the gradient"
GATED = "a gradient gated by its sign"
RANDOM = "a random gradient"


def not_linear(subject: Subject) -> dict[int, str]:
    """Name the gradients that are not linear in the cotangent, by argument.

    None is found where one of them has no reason in forward.
    """
    cotangents, primals = subject.first.cotangents, subject.first.primals
    rows = [[None if c is None else factor * c for c in cotangents] for factor in (1, -1, 8, 0)]
    plain, negated, larger, zero = subject.function.vjps(primals, rows)
    found = {}
    for argument in _not_linear(subject, plain, (negated, -1.0), (larger, 8.0), (zero, 0.0)):
        if _is_passed_on(subject, argument):
            found[argument] = CHANGED
        elif _is_injected(subject, argument, plain[argument], zero[argument]):
            found[argument] = INJECTED
        elif _is_gated(subject, argument, plain[argument], negated[argument]):
            found[argument] = GATED
        else:
            return {}
    return found


def random(subject: Subject) -> dict[int, str]:
    """Name the gradients that two runs of backward give differently, by argument.

    None is found unless forward passes the argument on and the generators decide the gradient.
    """
    inputs = [i for i in subject.first.inputs if _is_passed_on(subject, i)]
    if isinstance(subject.repeated, str) or _agree(subject, *subject.repeated):
        return {}
    runs = []
    for seed in (1, 1, 2):
        with subject.function.seeded(seed):
            (run,) = subject.function.vjps(subject.first.primals, [subject.first.cotangents])
        runs.append(run)
    if not _agree(subject, runs[0], runs[1]):
        return {}
    differing = [i for i in subject.first.inputs if not _same(runs[0][i], runs[2][i], 1.0)]
    return dict.fromkeys(differing, RANDOM) if set(differing) <= set(inputs) else {}


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


def _is_passed_on(subject: Subject, argument: int) -> bool:
    """Return True if an output is this argument, unchanged."""
    own = subject.first.primals[argument]
    outputs = subject.first.forward.outputs
    return any(output is not None and np.array_equal(output, own) for output in outputs)


def _is_injected(subject: Subject, argument: int, plain: Array | None, zero: Array | None) -> bool:
    """Return True for a loss that no output shows, with a constant gradient of its own.

    The outputs are other arguments, passed on: the auxiliary loss of a router comes in this way.
    """
    others = [i for i in subject.first.inputs if i != argument and _is_passed_on(subject, i)]
    if plain is None or not others or not _same(plain, zero, 1.0):
        return False
    comparison = subject.first.comparison(argument)
    return bool((np.abs(comparison.numeric.value) <= comparison.allowed).all())


def _is_gated(subject: Subject, argument: int, plain: Array | None, negated: Array | None) -> bool:
    """Return True for a ramp or step whose gradient passes, entry by entry, by its sign.

    Either a gate closes what the derivative lets through, or it opens what that holds back.
    """
    comparison = subject.first.comparison(argument)
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
