"""Consoles, the styles of the terminal report, and the ways to set a line.

Rich decorates nothing of its own accord.
"""

from __future__ import annotations

import os
from typing import Literal, TextIO

from rich.console import Console
from rich.text import Text

from gradtool.results.report import Severity, Verdict

Color = Literal["auto", "always", "never"]

UNBOUNDED = 10_000
"""Width of output that is not a terminal: lines stay whole, for ``grep`` and wide logs."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let the error out, where Rich would end the process with exit code 1."""
        raise BrokenPipeError


def make_console(file: TextIO, color: Color, *, width: int | None = None) -> Console:
    """A console on `file` that prints text as it is.

    Args:
        file: Where the text goes.
        color: ``auto`` is coloured on a terminal, unless ``NO_COLOR`` is set, and
            elsewhere when ``FORCE_COLOR`` is.
        width: Columns to wrap at; by default the terminal's, or none elsewhere.
    """
    colored = _colored(file, color)
    return _Console(
        file=file,
        width=width or (None if file.isatty() else UNBOUNDED),
        color_system="standard" if colored else None,
        force_terminal=True if colored else None,
        no_color=not colored,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )


def _colored(file: TextIO, color: Color) -> bool:
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return file.isatty() and os.environ.get("TERM") != "dumb"


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
        over = max(len(lead) - indent, 0)
        if over and over + len(text.plain.partition(" ")[0]) > room:
            lead.rstrip()
            self.whole(lead)
            lead, over = Text(" " * indent), 0
        # A long start takes room from the first line only.
        for at, line in enumerate(Text("x" * over).append_text(text).wrap(self._console, room)):
            line = line if at else line[over:]
            line.rstrip()
            self.whole(lead + line)
            lead = Text(" " * indent)


DIM = "dim"
STRONG = "bold"

VERDICTS = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.UNVERIFIED: "bold yellow",
    Verdict.ERROR: "bold red",
    Verdict.KNOWN: "dim",
    Verdict.SKIPPED: "dim",
}

SEVERITIES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.NOTE: "bold",
}
