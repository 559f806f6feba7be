"""Entries that differ from PyTorch, each with the reason."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {
    "nn.functional.linear_cross_entropy.chunked": "The second derivative exists here; PyTorch's "
    "chunked kernel takes its gradient for a constant.",
}
"""Reasons by entry, as they read in docs/conformance.md; an entry that agrees must not be here."""
