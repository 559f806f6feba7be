"""What a worker is given in place of a terminal: no input, and output that goes to a pipe."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import io
import os
import sys

from gradtool.verify.interruption import FOR_EVER
from gradtool.workers.death import GRACE

_FAR = 200
"""File descriptors of gradtool's own begin here, out of the way of a careless ``closerange``."""


def out_of_the_way(descriptor: int) -> int:
    """The same file under a higher number, which programs that are started do not inherit."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FAR)
    os.close(descriptor)
    return moved


class Surroundings:
    """Standard streams that can be put back, and the pipe for last words."""

    def __init__(self, output: int, words: int) -> None:
        """Send output to the file descriptor `output`, and last words to `words`."""
        self._output = out_of_the_way(output)
        self._words = out_of_the_way(words)
        self.put_back()
        faulthandler.enable(file=self._words, all_threads=False)

    def put_back(self) -> None:
        """Open the standard streams anew, whatever has become of them."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor, wanted in enumerate((nothing, self._output, self._output)):
            os.dup2(wanted, descriptor)
        if nothing > 2:
            os.close(nothing)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - stays open
        sys.stdout, sys.stderr = _text(1), _text(2)

    def expect_the_end_in(self, seconds: float | None) -> None:
        """Write down where the code is if it is still there when it is about to be killed."""
        if seconds is None:
            faulthandler.cancel_dump_traceback_later()
        else:
            with contextlib.suppress(RuntimeError):  # It needs a thread: there may be none left.
                late = min(FOR_EVER, seconds + GRACE / 2)
                faulthandler.dump_traceback_later(late, file=self._words)


def _text(descriptor: int) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True
    )
