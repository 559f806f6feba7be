"""Lists of processors, as the system writes them."""

from __future__ import annotations


def parse_list(text: str) -> frozenset[int]:
    """The numbers in ``0-2,8``; empty for nothing.

    Raises:
        ValueError: it is no such list.
    """
    found: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
