"""A document that a user wrote: its values, and the line that each of them comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gradtool.errors import UsageError

Where = tuple[str | int, ...]
"""A place in a document: keys and list positions from the root."""


class Document(msgspec.Struct, frozen=True):
    """A YAML file: its value, and the origin of everything in it."""

    name: str
    """The file as messages name it."""
    value: Any
    lines: Mapping[Where, int]
    origins: Mapping[Where, str] = {}
    """Options or variables that gave the values that are not from the file."""

    def error(self, where: Where, message: str) -> UsageError:
        """Create a usage error that names the file and line, or the option, that gave `where`."""
        return UsageError(f"{self.place(where)}: {message}")

    def place(self, where: Where) -> str:
        """``gradtool.yaml:3``, or the option that gave `where` or what contains it."""
        while where and where not in self.origins and where not in self.lines:
            where = where[:-1]
        return self.origins.get(where) or f"{self.name}:{self.line(where)}"

    def line(self, where: Where) -> int:
        """The line of `where`, or of what contains it."""
        parts = (where[:end] for end in range(len(where), 0, -1))
        return next((self.lines[part] for part in parts if part in self.lines), 1)

    def origin(self, where: Where) -> str | None:
        """Option or variable that gave `where` or what contains it; None for the file."""
        parts = (where[:end] for end in range(len(where), 0, -1))
        return next((self.origins[part] for part in parts if part in self.origins), None)
