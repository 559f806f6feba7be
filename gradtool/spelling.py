"""The words that follow a name nobody knows: the nearest one that exists."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, valid: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The valid name that looks most like `name`, or None when none looks like it.

    `cutoff` says how much it has to, from 0 to 1.
    """
    by_folded = {candidate.casefold(): candidate for candidate in valid}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """`` (did you mean 'atol'?)``, or nothing when no valid name is near."""
    close = nearest(name, valid)
    return f" (did you mean {close!r}?)" if close else ""


def known_names(name: str, valid: Iterable[str]) -> str:
    """The nearest name in parentheses, else all of them: for short lists of valid names."""
    names = list(valid)
    return did_you_mean(name, names) or f" (known: {', '.join(names)})"
