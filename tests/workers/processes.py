"""Finds the processes that a run left behind, by a mark in their environment."""

from __future__ import annotations

import os
import signal
import time
import uuid
from pathlib import Path
from types import TracebackType


class Marked:
    """Processes that inherit a mark; at the end of the block those left are killed."""

    def __init__(self) -> None:
        self._name = "GRADTOOL_TEST_MARK"
        self._mark = f"{self._name}={uuid.uuid4().hex}".encode()

    def __enter__(self) -> Marked:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pid in self._alive():
            os.kill(pid, signal.SIGKILL)

    def environment(self, **more: str) -> dict[str, str]:
        """Of a process that is to carry the mark."""
        name, _, value = self._mark.decode().partition("=")
        return {**os.environ, name: value, **more}

    def left(self, patience: float = 5.0) -> list[str]:
        """Command lines of marked processes that do not end within `patience` seconds."""
        until = time.monotonic() + patience
        while (alive := self._alive()) and time.monotonic() < until:
            time.sleep(0.02)
        return [_command(pid) for pid in alive]

    def _alive(self) -> list[int]:
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if self._mark in _read(pid, "environ").split(b"\0")]


def _command(pid: int) -> str:
    return _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace")


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
