"""Which rule tells of which broken contract that an engine refuses to go on from."""

from __future__ import annotations

from gradtool.verify.protocol.differentiable import Failure, FailureKind

OWNERS: dict[FailureKind, str] = {
    "both-backward-and-vjp": "GT507",
    "dirty-not-returned": "GT502",
    "gradient-count": "GT102",
    "gradient-device": "GT104",
    "gradient-shape": "GT103",
    "gradient-type": "GT104",
}
"""Kinds of failure that have a rule of their own; the others are what the user's code raised."""

CALLS = ("GT003", "GT502", "GT507")
"""Premises of everything that calls backward."""

RUNS = (*CALLS, "GT004")
"""Premises of everything that needs an output and its gradients."""

CHANGES_NOTHING = ("GT501", "GT503", "GT504", "GT508")
"""Premises of everything that compares one call with another."""

KEEPS_CONTRACT = (*RUNS, "GT102", "GT103", "GT105", "GT104", *CHANGES_NOTHING)
"""Premises of everything that looks at the values of gradients."""


def said(failure: Failure) -> str:
    """What the engine said, without the type of the exception."""
    kind, separator, text = failure.message.partition(": ")
    return text if separator and kind.isidentifier() else failure.message
