"""Suggestions for misspelt names, and nouns after a count."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, valid: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Find the valid name most similar to `name`; None if none is similar.

    `cutoff` is the similarity required, from 0 to 1.
    """
    by_folded = {candidate.casefold(): candidate for candidate in valid}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """`` (did you mean 'atol'?)``, or nothing if no valid name is similar."""
    close = nearest(name, valid)
    return f" (did you mean {close!r}?)" if close else ""


def known_names(name: str, valid: Iterable[str]) -> str:
    """The nearest name in parentheses, or else all of them; for short lists of valid names."""
    names = list(valid)
    return did_you_mean(name, names) or f" (known: {', '.join(names)})"


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """``1 case``, ``2 cases``; a plural that does not end in s is given as `nouns`."""
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"
