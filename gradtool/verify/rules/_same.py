"""Whether two runs that should give the same gradients did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradtool.results.report import Evidence
from gradtool.verify.diagnosis.evidence import scalar
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import BoolArray
from gradtool.verify.protocol.observation import Array, Observation
from gradtool.verify.rules._rule import Flaw
from gradtool.verify.thresholds.rules import SAME_GRADIENT_ROUNDINGS
from gradtool.verify.wording import apart

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


Gradients = Sequence[Array | None]


def unlike(
    subject: Subject, found: Gradients, expected: Gradients, when: str, hint: str
) -> Flaw | None:
    """A flaw for the first gradient that differs; None when all are the same.

    Args:
        subject: whose gradients they are.
        found: what the run in question gave, one for each argument.
        expected: what it should have given. A missing gradient counts as zero.
        when: what was different about the run, as in ``gradient of `x` differs WHEN``.
        hint: what to do about it.
    """
    for argument, one, other in zip(subject.function.arguments, found, expected, strict=True):
        if one is None and other is None:
            continue
        if one is not None and other is not None and one.shape != other.shape:
            return Flaw(
                message=f"gradient of `{argument.name}` has the shape {one.shape} {when}, "
                f"else {other.shape}",
                hint=hint,
            )
        flaw = _values(argument.name, *_filled(one, other), when, hint)
        if flaw:
            return flaw
    return None


def _filled(one: Array | None, other: Array | None) -> tuple[Array, Array]:
    """Both arrays, with zeros for the one that is missing."""
    if one is None:
        assert other is not None
        return np.zeros_like(other), other
    return one, np.zeros_like(one) if other is None else other


def apart_by(found: Array, expected: Array) -> tuple[BoolArray, Array, float]:
    """Which entries differ by more than roundings, by how much each does, and what is allowed.

    NaN in both places is no difference.
    """
    eps = max(epsilon(found.dtype), epsilon(expected.dtype))
    with np.errstate(all="ignore"):
        size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        allowed = float(SAME_GRADIENT_ROUNDINGS * eps * size)
        same = (found == expected) | ((found != found) & (expected != expected))
        difference = np.abs(found - expected)
        return np.asarray(~(same | (difference <= allowed))), difference, allowed


def alike(one: Array, other: Array) -> bool:
    """Whether two outputs are the same but for roundings."""
    if one.shape != other.shape or one.dtype.kind not in "fc":
        return np.array_equal(one, other)
    return not apart_by(one, other)[0].any()


def _values(name: str, found: Array, expected: Array, when: str, hint: str) -> Flaw | None:
    wrong, difference, allowed = apart_by(found, expected)
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
        f"{'; worst' if place else ''}{place}: {shown[0]}, else {shown[1]}",
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


def stopped(observation: Observation, when: str, hint: str) -> Flaw | None:
    """A flaw for a run that failed where the plain one did not."""
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
