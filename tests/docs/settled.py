"""Output with what differs from run to run or machine to machine taken out."""

from __future__ import annotations

import re

CHANGING = [
    (r"\b\d+(\.\d+)? ?(ns|us|µs|ms|s|min)\b", "TIME"),
    (r"\b(NumPy|Python|gradtool|pytest|pluggy) \d[\w.+]*", r"\1 VERSION"),
    (r"(±|fits every entry to) \d[\d.e-]*", r"\1 ERROR"),
    (r"[ \t]+", " "),
]
"""Times, versions, what rounding leaves, column widths."""


def settled(text: str) -> str:
    """`text` without what changes."""
    for pattern, replacement in CHANGING:
        text = re.sub(pattern, replacement, text)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def matches(shown: str, printed: str) -> bool:
    """Whether `printed` is what is shown, where a line ``...`` stands for any lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.$", shown, flags=re.M)]
    return re.fullmatch(".*?".join(parts), printed, re.S) is not None
