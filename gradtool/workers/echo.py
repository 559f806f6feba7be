"""Output of checked code, passed on to standard error: bounded, and inert in a CI log."""

from __future__ import annotations

import os
import re
import sys

_MAX_BYTES = 2**20
"""Bytes that the checked code may print in one worker before the rest is dropped."""

_MARK = "| "
"""Stands before text that the runner of GitHub's workflows would take for a command."""

_COMMAND = re.compile(r"(?m)^(?=[^\S\n]*::)|(?=##\[)")
"""Where such text begins: the runner skips the spaces before `::` and finds `##[` anywhere."""


class Echo:
    """The output of one worker.

    A line is kept until it ends, since its beginning decides whether it is a workflow command.
    """

    def __init__(self) -> None:
        self._line = b""
        self._printed = 0
        self._pattern = _COMMAND if os.environ.get("GITHUB_ACTIONS") == "true" else None

    def feed(self, data: bytes) -> None:
        """Write the lines of `data` that are complete; without data, all that was kept."""
        before, self._printed = self._printed, self._printed + len(data)
        if before >= _MAX_BYTES:
            data = b""
        end = data.rfind(b"\n") + 1 if data else 0
        if end or not data:
            self._write(self._line + data[:end])
            self._line = data[end:]
        else:
            self._line += data
        if before < _MAX_BYTES <= self._printed:
            self._write(self._line + b"\n[gradtool: further output is left out]\n")
            self._line = b""

    def _write(self, lines: bytes) -> None:
        text = lines.decode("utf-8", "backslashreplace")
        if self._pattern:
            # A lone carriage return ends a line too, for the runner and for a terminal.
            text = self._pattern.sub(_MARK, text.replace("\r\n", "\n").replace("\r", "\n"))
        sys.stderr.write(text)
