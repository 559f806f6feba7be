"""Output of checked code, passed on to standard error: bounded, and inert in a CI log."""

from __future__ import annotations

import sys

from gradtool.results.workflow_commands import are_read, without_commands

_MAX_BYTES = 2**20
"""Bytes that the checked code may print in one worker before the rest is dropped."""


class Echo:
    """The output of one worker.

    A line is kept until it ends, since its beginning decides whether it is a workflow command.
    """

    def __init__(self) -> None:
        self._line = b""
        self._printed = 0
        self._is_read = are_read()

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
        sys.stderr.write(without_commands(text) if self._is_read else text)
