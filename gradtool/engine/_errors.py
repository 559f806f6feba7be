"""Errors with torch's message and type that also name the broken contract of autograd."""

from __future__ import annotations

from typing import Literal

ContractKind = Literal[
    "gradient-count",
    "gradient-shape",
    "gradient-type",
    "gradient-device",
    "undeclared-in-place",
    "dirty-not-returned",
    "both-backward-and-vjp",
    "no-backward",
    "once-differentiable",
    "no-graph",
    "saved-type",
]


class ContractError(RuntimeError):
    """A custom Function, or the use of it, breaks a rule of autograd.

    `kind` names the rule, so that a checker need not parse the message.
    """

    def __init__(self, kind: ContractKind, message: str) -> None:
        super().__init__(message)
        self.kind: ContractKind = kind

    def __reduce__(self) -> tuple[type[Exception], tuple[str]]:
        return RuntimeError, (str(self),)


class ContractTypeError(ContractError, TypeError):
    """The same where torch raises a TypeError."""


class SavedTypeError(ContractError, TypeError):
    """Something other than a tensor is saved for backward."""


class MissingMethodError(ContractError, NotImplementedError):
    """The same where torch raises a NotImplementedError."""


for _class, _shown in (
    (ContractError, RuntimeError),
    (ContractTypeError, RuntimeError),
    (SavedTypeError, TypeError),
    (MissingMethodError, NotImplementedError),
):
    # Tracebacks, and scripts that print the type, show the one that torch raises.
    _class.__name__ = _class.__qualname__ = _shown.__name__
    _class.__module__ = "builtins"
