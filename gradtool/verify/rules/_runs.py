"""Comparisons of runs that should give the same results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Evidence
from gradtool.verify.diagnosis.evidence import scalar
from gradtool.verify.oracle.steps import epsilon, scales
from gradtool.verify.protocol.coordinates import BoolArray, is_continuous
from gradtool.verify.protocol.observation import Array, Observation
from gradtool.verify.rules._rule import Flaw
from gradtool.verify.thresholds.rules import (
    JITTER_POINTS,
    REPEATED_RESULT_ROUNDINGS,
    SAME_GRADIENT_JITTERS,
    SAME_GRADIENT_ROUNDINGS,
)
from gradtool.verify.wording import apart

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


Gradients = Sequence[Array | None]


def gradient_difference(
    subject: Subject,
    found: Gradients,
    expected: Gradients,
    when: str,
    hint: str,
    *,
    same_order: bool = False,
) -> Flaw | None:
    """A flaw for the first gradient that differs; None when all are the same.

    Args:
        subject: The Function whose gradients they are.
        found: Gradients of the run in question, one for each argument.
        expected: The right ones. A missing gradient counts as zero.
        when: The circumstances of the run, as in ``gradient of `x` differs WHEN``.
        hint: Advice.
        same_order: Both runs do the same in the same order, so that rounding explains nothing.
    """
    triples = zip(subject.function.arguments, found, expected, strict=True)
    for at, (argument, one, other) in enumerate(triples):
        if one is None and other is None:
            continue
        if one is not None and other is not None and one.shape != other.shape:
            return Flaw(
                message=f"gradient of `{argument.name}` has the shape {one.shape} {when}, "
                f"instead of {other.shape}",
                hint=hint,
            )
        pair = _filled(one, other)
        flaw = _values(argument.name, *pair, when, hint)
        if flaw is None:
            continue
        explains = _is_slope_of_roundings(subject, at, *pair)
        if not explains and (same_order or not _is_rounding(subject, *pair)):
            return flaw
    return None


def _is_slope_of_roundings(subject: Subject, argument: int, found: Array, expected: Array) -> bool:
    """Return True for a difference that changes no output by more than some of its roundings.

    Where a gradient is zero, as by the angle of what is symmetric, its terms may cancel otherwise
    in the second run: the first may leave roundings in what it undoes step by step.
    """
    if not is_continuous(found.dtype):
        return False
    outputs = [each for each in subject.first.forward.outputs if each is not None]
    known = [each for each in outputs if is_continuous(each.dtype)]
    allowed = slope_of_roundings(subject.first.primals[argument], known, REPEATED_RESULT_ROUNDINGS)
    return bool(np.abs(found - expected).max(initial=0.0) <= allowed)


def slope_of_roundings(primal: Array, outputs: Sequence[Array], roundings: float) -> float:
    """The slope by an argument that changes no output by more than so many of its roundings."""
    largest = max((float(np.abs(each).max(initial=0.0)) for each in outputs), default=0.0)
    return roundings * epsilon(primal.dtype) * largest / float(scales(primal).min(initial=1.0))


def _is_rounding(subject: Subject, found: Array, expected: Array) -> bool:
    """Return True for a difference that rounding explains: in single precision, or of all digits.

    A Function may compute in a lower precision than its arguments have, or its terms may cancel.
    Its gradients are then not smooth: at three points in a row, their second difference is as
    large as the rounding.
    """
    if not is_continuous(found.dtype):
        return False
    difference = np.abs(found - expected).max(initial=0.0)
    size = np.abs(expected).max(initial=0.0)
    is_single = difference <= SAME_GRADIENT_ROUNDINGS * epsilon(np.dtype(np.float32)) * size
    allowed = SAME_GRADIENT_JITTERS * jitter(subject)
    return bool(difference <= allowed and (is_single or size <= allowed))


def jitter(subject: Subject) -> float:
    """The largest second difference of any gradient at points close together."""
    rows = [run.gradients for run in _close_runs(subject) if run.gradients is not None]
    return max((_second_difference(column) for column in zip(*rows, strict=True)), default=0.0)


def jitter_of_output(subject: Subject, number: int) -> float:
    """The largest second difference of one output at points close together."""
    runs = _close_runs(subject)
    return _second_difference([run.outputs[number] for run in runs if len(run.outputs) > number])


def _close_runs(subject: Subject) -> list[Observation]:
    first = subject.first
    points = [[_moved(primal, times) for primal in first.primals] for times in range(JITTER_POINTS)]
    return [subject.function.call(point, first.cotangents) for point in points]


def _second_difference(arrays: Sequence[Array | None]) -> float:
    there = [each for each in arrays if each is not None and np.isfinite(each).all()]
    if len(there) < JITTER_POINTS or not is_continuous(there[0].dtype):
        return 0.0
    return float(np.abs(np.diff(there, 2, axis=0)).max(initial=0.0))


def _moved(primal: Array, times: int) -> Array:
    """The primal, a few units in the last place of single precision away."""
    if not is_continuous(primal.dtype):
        return primal
    step = 3 * epsilon(np.dtype(np.float32))
    return np.asarray(primal * (1 + times * step), primal.dtype)


def _filled(one: Array | None, other: Array | None) -> tuple[Array, Array]:
    """Both arrays, with zeros for the one that is missing."""
    if one is None:
        assert other is not None
        return np.zeros_like(other), other
    return one, np.zeros_like(one) if other is None else other


def differing_entries(found: Array, expected: Array) -> tuple[BoolArray, Array, float]:
    """Entries that differ by more than rounding, the difference of each, and the allowed one.

    NaN in both places is no difference.
    """
    eps = max(epsilon(found.dtype), epsilon(expected.dtype))
    with np.errstate(all="ignore"):
        size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        allowed = float(SAME_GRADIENT_ROUNDINGS * eps * size)
        same = (found == expected) | ((found != found) & (expected != expected))
        difference = np.abs(found - expected)
        return np.asarray(~(same | (difference <= allowed))), difference, allowed


def same_output(one: Array, other: Array) -> bool:
    """Return True if two outputs agree up to rounding."""
    if one.shape != other.shape or not is_continuous(one.dtype):
        return np.array_equal(one, other)
    return not differing_entries(one, other)[0].any()


def _values(name: str, found: Array, expected: Array, when: str, hint: str) -> Flaw | None:
    wrong, difference, allowed = differing_entries(found, expected)
    if not wrong.any():
        return None
    worst = np.unravel_index(
        int(np.argmax(np.where(wrong, np.nan_to_num(difference, nan=np.inf), -1.0))), wrong.shape
    )
    values = float(found[worst].real), float(expected[worst].real)
    shown = apart(*values)
    place = f" at [{', '.join(map(str, worst))}]" if worst else ""
    return Flaw(
        message=f"gradient of `{name}` differs {when}, in {wrong.sum()} of {wrong.size} entries"
        f"{'; worst' if place else ''}{place}: {shown[0]} instead of {shown[1]}",
        hint=hint,
        evidence=Evidence(
            argument=name,
            input_index=tuple(int(i) for i in worst),
            analytic=scalar(values[0]),
            numeric=scalar(values[1]),
            difference=scalar(float(difference[worst])),
            tolerance=scalar(allowed),
            wrong=int(wrong.sum()),
            compared=wrong.size,
        ),
    )


def failure_of_run(observation: Observation, when: str, hint: str) -> Flaw | None:
    """A flaw for a run that failed where the plain run did not."""
    failure = observation.failure
    if failure is None:
        return None
    return Flaw(
        message=f"{failure.stage} fails {when}: {failure.message}",
        hint=hint,
        detail=failure.traceback or None,
        path=failure.path,
        line=failure.line,
    )


def same(one: Array | None, other: Array | None) -> bool:
    """Return True if two results agree up to rounding; None agrees only with None."""
    if one is None or other is None:
        return one is other
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not is_continuous(one.dtype):
        return np.array_equal(one, other)
    size = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    slack = REPEATED_RESULT_ROUNDINGS * epsilon(one.dtype) * size
    return bool(np.allclose(one, other, rtol=0.0, atol=slack, equal_nan=True))


def all_same(one: Sequence[Array | None], other: Sequence[Array | None]) -> bool:
    """Return True if all results of two calls agree."""
    return len(one) == len(other) and all(map(same, one, other))


def silently_differs(seen: Observation, changed: Observation) -> bool:
    """Return True if interfering with a call changed its gradients and raised nothing."""
    if changed.failure is not None or changed.gradients is None or seen.gradients is None:
        return False
    return not all_same(seen.gradients, changed.gradients)
