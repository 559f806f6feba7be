"""A worker as the pool sees it: its pipes, what it is busy with, and until when."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path

from gradtool.workers.channel import Garbled, Reader, framed
from gradtool.workers.death import Death
from gradtool.workers.jobs import Job
from gradtool.workers.messages import Exited, Reply, Request

_CHUNK = 2**16
_MOST_OUTPUT = 2**20
"""Bytes that the checked code may print in one worker before the rest is left out."""


@dataclass
class Seat:
    """One worker."""

    number: int
    end: socket.socket
    output: int
    words: int
    folder: Path
    """Where imports start in what it is asked to do."""
    job: Job | None = None
    out_of_time: bool = False
    garbled: bool = False
    leaving: bool = False
    """It is to be asked nothing more."""
    _reader: Reader[Reply] = field(default_factory=lambda: Reader(Reply))  # type: ignore[arg-type]
    _printed: int = 0

    def ask(self, job: Job) -> None:
        """Give it something to do."""
        self.job = job
        request: Request = job.begin()
        with contextlib.suppress(ConnectionError):  # Its death will be told of.
            self.end.setblocking(True)
            self.end.sendall(framed(request))
            self.end.setblocking(False)

    def replies(self) -> tuple[list[Reply], bool]:
        """What it has said since, and whether there can be more."""
        try:
            data = self.end.recv(_CHUNK)
        except BlockingIOError:
            return [], True
        except OSError:
            data = b""
        try:
            return self._reader.feed(data), bool(data)
        except Garbled:
            self.garbled = True
            return [], False

    def echo(self) -> bool:
        """Pass on what it has printed, to standard error; whether there can be more."""
        try:
            data = os.read(self.output, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        before, self._printed = self._printed, self._printed + len(data)
        if before < _MOST_OUTPUT:
            sys.stderr.write(data.decode("utf-8", "backslashreplace"))
            if self._printed >= _MOST_OUTPUT:
                sys.stderr.write("\n[gradtool: it prints more, which is left out]\n")
        return bool(data)

    def death(self, exited: Exited) -> Death:
        """What is known of its end."""
        return Death(
            status=exited.status,
            words=self._last_words(),
            out_of_time=self.out_of_time,
            garbled=self.garbled,
            oom_killed=exited.oom_killed,
        )

    def _last_words(self) -> str:
        found = b""
        with contextlib.suppress(OSError):
            while data := os.read(self.words, _CHUNK):
                found += data
        return found.decode("utf-8", "backslashreplace")

    def close(self) -> None:
        """Let go of its pipes."""
        self.end.close()
        os.close(self.output)
        os.close(self.words)
