"""PyTorch's names, which distinguish a name that the engine lacks from an unknown one.

``tests/engine/write_torch_names.py`` writes the list next to this file from the real package. It is
read on the first look-up of a name that the engine lacks.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

_LIST = Path(__file__).with_name("_torch_names.txt")


class Names(NamedTuple):
    """Names in one module or class of PyTorch."""

    plain: frozenset[str]
    modules: frozenset[str]
    exceptions: frozenset[str]
    complete: bool
    """False if there may be other names too."""

    def has(self, name: str) -> bool:
        """Return True if there is, or may be, such a name."""
        known = name in self.plain or name in self.modules or name in self.exceptions
        return known or not self.complete


_UNKNOWN = Names(frozenset(), frozenset(), frozenset(), complete=False)


def names_of(owner: str) -> Names:
    """Return the names in a module or class; nothing is known about private and deep modules."""
    line = _lines().get(owner)
    return _UNKNOWN if line is None else _parsed(line)


def is_module(name: str) -> bool:
    """Return True if PyTorch has a module ``name``, or a private package that may hold it."""
    parts = name.split(".")
    for end in range(1, len(parts)):
        if parts[end] not in names_of(".".join(parts[:end])).modules:
            return False
        if parts[end].startswith("_"):
            return True
    return parts == ["torch"] or len(parts) > 1


@functools.cache
def _lines() -> dict[str, str]:
    lines = _LIST.read_text(encoding="utf-8").splitlines()
    return {owner: has for owner, _, has in (line.partition(":") for line in lines)}


@functools.cache
def _parsed(line: str) -> Names:
    words = line.split()
    return Names(
        plain=frozenset(word for word in words if word[-1] not in "/!."),
        modules=frozenset(word[:-1] for word in words if word[-1] == "/"),
        exceptions=frozenset(word[:-1] for word in words if word[-1] == "!"),
        complete="..." not in words,
    )
