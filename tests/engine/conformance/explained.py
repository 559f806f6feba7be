"""Entries that differ from PyTorch, each with the reason."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {}
"""Reasons by entry, as they read in docs/conformance.md; an entry that agrees must not be here."""
