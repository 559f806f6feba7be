"""Amounts of memory as people write them: ``512MiB``, ``4G``, ``none``."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)

LEAST = 2**20
"""A limit below this is a slip: a forgotten unit."""

_TOO_MUCH = 2**60
"""What no system takes as a limit."""


def parse_size(text: str) -> int | None:
    """The number of bytes; None for ``none``.

    Raises:
        ValueError: It is neither a size nor ``none``; the text says how to write one.
    """
    if text.strip().lower() == "none":
        return None
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"must be a size such as 512MiB or 4GiB, or none, got {text!r}")
    size = float(match[1]) * _UNITS[match[2].lower()]
    if size < LEAST:
        raise ValueError(f"must be 1MiB or more, got {text!r}: is the unit missing?")
    if size >= _TOO_MUCH:
        raise ValueError(f"must be below 1048576TiB, or none, got {text!r}")
    return int(size)
