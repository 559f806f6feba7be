"""What can stand in the way of a measurement."""

from __future__ import annotations


class TransferError(Exception):
    """The run cannot start as asked; the text is one line for the user."""


class UnavailableError(Exception):
    """One measurement cannot be made here, and the others can; the text says why."""
