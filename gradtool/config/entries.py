"""The entry of a Function in a configuration, and the lines of its parts.

Some mistakes, such as the name of an argument that forward lacks, show only once the module has
been imported. They are reported at these lines too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from gradtool.config.decoding import spelled
from gradtool.config.document import Where
from gradtool.config.schema import FunctionConfig
from gradtool.results.report import Location

if TYPE_CHECKING:
    from gradtool.config.files import Config  # Workers need entries, and read no files.


class Entry(Struct, frozen=True, kw_only=True):
    """The place of an entry, as plain data for the process that imports the module."""

    name: str
    """The entry as messages name it: ``functions.Linear``."""
    places: dict[str, Location]
    """The place of each part that may not fit the Function, such as ``cases[0]``."""


def entry_of(config: Config, module: Path, name: str) -> Entry | None:
    """Find the entry of the Function `name` of `module`; None if it has none."""
    key = config.key_of(module, name)
    if key is None:
        return None
    root: Where = ("functions", key)
    parts = _parts(config.functions[key])
    places = {spelled(part): config.place((*root, *part)) for part in parts}
    return Entry(name=spelled(root), places=places)


def _parts(function: FunctionConfig) -> Iterator[Where]:
    yield from (("surrogate", i) for i in range(len(function.surrogate)))
    yield from (("cases", i) for i in range(len(function.cases)))
    yield from ((key,) for key in ("surrogate_of", "module") if getattr(function, key) is not None)
