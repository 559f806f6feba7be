"""Differences that have a reason, and are not counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.engine.fuzz.compare import Difference
from tests.engine.fuzz.program import Program


@dataclass(frozen=True)
class Explained:
    """A reason, and which differences it explains."""

    reason: str
    holds: Callable[[Difference, Program], bool]


EXPLAINED: tuple[Explained, ...] = (
    Explained(
        "NumPy has no complex numbers of halves, so that the engine computes with complex64",
        lambda difference, _: str(difference.expected) == "complex32",
    ),
    Explained(
        "PyTorch conjugates when the elements are first looked at, the engine at once",
        lambda difference, _: difference.what in ("is_conj", "is_neg"),
    ),
)


def reason_of(difference: Difference, program: Program) -> str | None:
    """The reason of a difference, if it has one."""
    return next((e.reason for e in EXPLAINED if e.holds(difference, program)), None)
