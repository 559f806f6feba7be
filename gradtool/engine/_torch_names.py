"""Which names PyTorch has, to tell a name that the engine lacks from one that never was.

The list beside this file is written by ``tests/engine/write_torch_names.py`` from the real
package. It is read when a name is first looked for that the engine does not have.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

_LIST = Path(__file__).with_name("_torch_names.txt")


class Names(NamedTuple):
    """What one module or class of PyTorch has."""

    plain: frozenset[str]
    modules: frozenset[str]
    exceptions: frozenset[str]
    complete: bool
    """Whether that is all; else any other name may be there too."""

    def has(self, name: str) -> bool:
        """Whether there is, or may be, such a name."""
        known = name in self.plain or name in self.modules or name in self.exceptions
        return known or not self.complete


_UNKNOWN = Names(frozenset(), frozenset(), frozenset(), complete=False)


def names_of(owner: str) -> Names:
    """What the module or class `owner` has; of private and deep modules nothing is known."""
    line = _lines().get(owner)
    return _UNKNOWN if line is None else _parsed(line)


def is_module(name: str) -> bool:
    """Whether PyTorch has a module ``name``, or a private package that may hold one."""
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
