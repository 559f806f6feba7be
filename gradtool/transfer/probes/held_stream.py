"""Holding a stream shut, so that what happens too early can be seen at leisure.

The stream waits in a function of the host. No kernel is compiled for it, and it never waits
longer than a limit, so that nothing hangs. Do not give a copy from pageable memory to a stream
that only the same thread will open: the driver may wait for the stream inside that call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gradtool.device.protocol import Stream
from gradtool.transfer.machines.machine import Machine

LIMIT = 5.0
"""Seconds after which a held stream goes on whatever happens."""


class Hold:
    """Keeps one stream shut from `close` to `open`."""

    def __init__(self, machine: Machine, stream: Stream, limit: float = LIMIT) -> None:
        self._machine, self._stream, self._limit = machine, stream, limit
        self._opened, self._shut = threading.Event(), threading.Event()

    def close(self) -> None:
        """Shut the stream; returns once it stands still."""
        self._machine.host_function(self._stream, self._wait)
        self._shut.wait(self._limit)

    def _wait(self) -> None:
        self._shut.set()
        self._opened.wait(self._limit)

    def open(self) -> None:
        """Let it go on."""
        self._opened.set()


@contextmanager
def held(machine: Machine, stream: Stream) -> Iterator[Hold]:
    """A stream that is shut, and is opened at the end if it was not before."""
    hold = Hold(machine, stream)
    hold.close()
    try:
        yield hold
    finally:
        hold.open()
        stream.synchronize()
