"""Consoles: where colour is decided, and that Rich never decorates what it was not asked to."""

from __future__ import annotations

import os
from typing import Literal, TextIO

from rich.console import Console

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
