"""Whether a mutant is wrong at all: its answers are held against the reference, not the checker."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtool.sandbox.timeout import TimedOut, time_limit
from tests.mutation.expected import Expected
from tests.mutation.point import Array
from tests.mutation.questions import ChangedError
from tests.mutation.reference import Reference, declares_once

PATIENCE = 2.0
"""Seconds that a mutant may take for all of its answers."""


class Kind(enum.Enum):
    """What is to be said of a mutant."""

    EQUIVALENT = "equivalent"
    """It gives the right answers."""
    OTHER_FORWARD = "other forward"
    """It computes something else, so that nothing is known of its gradient."""
    DIFFERENT = "different"
    RAISED = "raised"
    """It raises where the right Function gives a gradient."""
    OVERWRITES = "overwrites"
    """Its backward writes over an input, what was saved, or the incoming gradient."""
    ENDLESS = "endless"


WRONG = frozenset({Kind.DIFFERENT, Kind.RAISED, Kind.OVERWRITES, Kind.ENDLESS})


@dataclass(frozen=True)
class Judgement:
    """What is said of a mutant, and of which answer at which case."""

    kind: Kind
    what: str = ""
    case: int = 0


def judge(target: Any, references: Sequence[Reference]) -> Judgement:
    """Ask a mutant everything that is known of the right Function, until it is wrong."""
    try:
        with time_limit(PATIENCE):
            return next(_objections(target, references), Judgement(Kind.EQUIVALENT))
    except TimedOut:
        return Judgement(Kind.ENDLESS, "does not end")


def _objections(target: Any, references: Sequence[Reference]) -> Iterator[Judgement]:
    for number, reference in enumerate(references):
        other = _computes_otherwise(target, reference)
        if other is not None:
            yield Judgement(other, "forward", number)
            return
        for expected in _asked(target, reference):
            kind = _objection(target, reference, expected)
            if kind is not None:
                yield Judgement(kind, expected.question.name, number)


def _asked(target: Any, reference: Reference) -> Iterator[Expected]:
    yield from reference.expected
    if not declares_once(target):
        yield from reference.second


def _computes_otherwise(target: Any, reference: Reference) -> Kind | None:
    try:
        outputs = reference.point.outputs(target.apply)
    except Exception:  # A mutant may raise anything.
        return Kind.RAISED
    same = len(outputs) == len(reference.outputs) and all(map(_equal, outputs, reference.outputs))
    return None if same else Kind.OTHER_FORWARD


def _equal(left: Array | None, right: Array | None) -> bool:
    if left is None or right is None:
        return left is right
    return left.dtype == right.dtype and np.array_equal(
        left, right, equal_nan=left.dtype.kind in "fc"
    )


def _objection(target: Any, reference: Reference, expected: Expected) -> Kind | None:
    try:
        answer = expected.question.ask(target.apply, reference.point)
    except ChangedError:
        return Kind.OVERWRITES
    except Exception:  # A mutant may raise anything.
        return Kind.RAISED
    return Kind.DIFFERENT if expected.differs(answer) else None
