"""The reason why a Function is listed, but not checked: plain data."""

from __future__ import annotations

import enum

import msgspec


class Purpose(enum.Enum):
    """The kind of a Function that is listed, but not checked."""

    ABSTRACT = enum.auto()
    """A base for others, which are checked in its place."""
    NO_GRADIENT = enum.auto()
    """Its backward does nothing but raise."""
    NO_BACKWARD = enum.auto()
    """It has no backward, vjp or jvp."""
    MISSPELT = enum.auto()
    """It has no forward or backward, but a method of nearly that name."""
    HALF = enum.auto()
    """Another Function passes its result or its gradient on."""
    NOT_MADE = enum.auto()
    """There is no class: the code that makes it did not run."""


class Unchecked(msgspec.Struct, frozen=True):
    """The reason why a Function is not checked."""

    purpose: Purpose
    message: str
    """A predicate whose subject is the Function."""
    hint: str | None = None

    @property
    def has_forward(self) -> bool:
        """True if the Function can be called, but not differentiated."""
        return self.purpose in (Purpose.NO_GRADIENT, Purpose.NO_BACKWARD)
