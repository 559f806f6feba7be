"""The few ways in which lines are set: whole, or wrapped under a hanging indent."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

_NARROWEST = 20
"""Columns below which wrapping makes a text harder to read than the terminal's own folding."""


class Page:
    """Writes lines to a console, without padding them and without cutting anything."""

    def __init__(self, console: Console) -> None:
        """Write to `console`, at its width."""
        self._console = console

    @property
    def width(self) -> int:
        """Columns of a line."""
        return self._console.width

    def blank(self) -> None:
        """An empty line."""
        self._console.print()

    def whole(self, text: Text) -> None:
        """One line that is never broken, so that a command in it can be copied."""
        self._console.print(text, soft_wrap=True)

    def wrapped(self, text: Text, *, first: Text | None = None, indent: int = 0) -> None:
        """A text broken at the width, each line after the first indented like the first.

        Args:
            text: What to write.
            first: What stands in front of the text on its first line.
            indent: Columns in front of each further line.
        """
        lead = first if first is not None else Text(" " * indent)
        room = max(self.width - indent, _NARROWEST)
        for line in text.wrap(self._console, room):
            line.rstrip()
            self.whole(lead + line)
            lead = Text(" " * indent)
