"""Contracts that the engine itself enforces, and the premises that rules share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from gradtool.verify.protocol.observation import Failure, FailureKind
from gradtool.verify.rules._rule import Answer, failed, flaw_of, passed, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


CALLS = ("GT003", "GT502", "GT507")
"""Premises of everything that calls backward."""

RUNS = (*CALLS, "GT004")
"""Premises of everything that needs an output and its gradients."""

RETURNS_GRADIENTS = ("GT102", "GT103", "GT105", "GT104")
"""Premises of everything that reads the gradients, which the engine refuses otherwise."""

CHANGES_NOTHING = ("GT501", "GT503", "GT504", "GT508")
"""Premises of everything that compares one call with another."""

KEEPS_CONTRACT = (*RUNS, *RETURNS_GRADIENTS, *CHANGES_NOTHING)
"""Premises of everything that looks at the values of gradients."""


@cache
def reporter_of(kind: FailureKind) -> str | None:
    """Return the code of the rule that reports this kind of failure; None if user code raised."""
    from gradtool.verify.rules import RULES  # Which loads this module.

    return next((code for code, rule in RULES.items() if kind in rule.reports), None)


def engine_message(failure: Failure) -> str:
    """The engine's message, without the type of the exception."""
    kind, separator, text = failure.message.partition(": ")
    return text if separator and kind.isidentifier() else failure.message


def refused(kind: FailureKind, hint: str) -> Callable[[Subject], Answer]:
    """Make a check that fails when the engine refused a result of backward for this reason."""

    def check(subject: Subject) -> Answer:
        if subject.nothing_to_check:
            return skipped(subject.nothing_to_check)
        failure = subject.first.failure
        if failure is None or failure.kind != kind:
            return passed()
        return failed(flaw_of(failure, engine_message(failure), hint))

    return check
