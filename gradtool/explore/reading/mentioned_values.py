"""Values of arguments that docstrings mention: those that the author of a Function thought of."""

from __future__ import annotations

import re
from collections.abc import Collection

_MENTIONED = r"(?<![\w.])`*{name}`*\s*(?:==?|of|is)\s*`*(?P<value>[-+]?(?:\d+(?:\.\d+)?|inf\b))"
"""Matches ``gamma = 0`` and ``a gamma of 0.5``."""

_ENDS = (
    r"(?<![\w.])`*{name}`*\s*(?:>=|\u2265|<=|\u2264)"
    r"\s*`*(?P<value>[-+]?\d+(?:\.\d+)?)(?!\w|\.\d|\s*[-+*/])"
    r"|(?<![\w.*/+-])(?P<least>[-+]?\d+(?:\.\d+)?)\s*(?:<=|\u2264)\s*`*(?={name}\b(?!\s*[-+*/]))"
    r"|(?<![\w.])(?P<zero>0)\s*(?:<=|\u2264)\s*`*(?:\d+\s*\*\s*)?{name}\b"
)
"""Matches ``gamma >= 0`` and ``0 <= 2 * trim < k``: an end that belongs to the range."""

_EXCLUDES = re.compile(
    r"\b(not?|never|cannot|except|unless|in(valid|correct)|un(defined|supported)|singular|refused"
    r"|raises?|forbidden|excluded)\b|n't\b|!=|\u2260",
    re.I,
)
"""Matches what a sentence says of values that are not allowed."""

_SIGN = re.compile(r"[=\u2264\u2265]| (of|is) ")
"""Matches what all of these have between a name and its value."""

_UNBOUNDED = re.compile(r"\binf(inite|inity)?\b|\bunbounded\b|\bone.sided\b|\bopen.ended\b", re.I)

_MOST = 2
"""Values of one argument."""


def mentioned(text: str, names: Collection[str]) -> dict[str, list[float]]:
    """For each name the numbers that a text says it may equal."""
    found: dict[str, list[float]] = {}
    for sentence in re.split(r"[.;]\s|\n\s*\n", text):
        if _EXCLUDES.search(sentence):
            continue
        for name in names if _SIGN.search(sentence) else ():
            for pattern in (_MENTIONED, _ENDS):
                for match in re.finditer(pattern.format(name=re.escape(name)), sentence):
                    values = match.groupdict().values()
                    found.setdefault(name, []).append(float(next(filter(None, values))))
    return {name: list(dict.fromkeys(each))[:_MOST] for name, each in found.items() if each}


def speaks_of_infinity(text: str) -> bool:
    """Return True for a text about what has no bound."""
    return bool(_UNBOUNDED.search(text))
