"""Reasons for which a run, or a single measurement, is impossible."""

from __future__ import annotations


class TransferError(Exception):
    """The options cannot be satisfied; the text is one line for the user."""


class UnavailableError(Exception):
    """One measurement is impossible here, the others are not; the text gives the reason."""
