"""Commands that GitHub's workflows read from a log, kept from text that the checked code chose."""

from __future__ import annotations

import os
import re

_MARK = "| "
"""Stands before text that the runner would take for a command."""

_COMMAND = re.compile(r"(?m)^(?=[^\S\n]*::)|(?=##\[)")
"""Where such text begins: the runner skips the spaces before `::` and finds `##[` anywhere."""


def are_read() -> bool:
    """Return True if a runner reads the output of this process."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def without_commands(text: str) -> str:
    """Return the text with a mark before everything that the runner would take for a command."""
    # A lone carriage return ends a line too, for the runner and for a terminal.
    return _COMMAND.sub(_MARK, text.replace("\r\n", "\n").replace("\r", "\n"))
