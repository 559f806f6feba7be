"""Refusals of the engine, and the premises that rules share."""

from __future__ import annotations

from functools import cache

from gradtool.verify.protocol.observation import Failure, FailureKind

CALLS = ("GT003", "GT502", "GT507")
"""Premises of everything that calls backward."""

RUNS = (*CALLS, "GT004")
"""Premises of everything that needs an output and its gradients."""

CHANGES_NOTHING = ("GT501", "GT503", "GT504", "GT508")
"""Premises of everything that compares one call with another."""

KEEPS_CONTRACT = (*RUNS, "GT102", "GT103", "GT105", "GT104", *CHANGES_NOTHING)
"""Premises of everything that looks at the values of gradients."""


@cache
def reporter_of(kind: FailureKind) -> str | None:
    """The code of the rule that reports this kind of failure; None for what user code raised."""
    from gradtool.verify.rules import RULES  # Which loads this module.

    return next((code for code, rule in RULES.items() if kind in rule.reports), None)


def said(failure: Failure) -> str:
    """What the engine said, without the type of the exception."""
    kind, separator, text = failure.message.partition(": ")
    return text if separator and kind.isidentifier() else failure.message
