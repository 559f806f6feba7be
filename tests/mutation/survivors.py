"""Mutants that are wrong and not found, each with the reason why that has to be so.

The key is the fingerprint of the mutant, which has no line numbers.
"""

from __future__ import annotations

EXPLAINED: dict[str, str] = {}
