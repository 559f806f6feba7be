"""A stream that is held, so that what happens before its work is done can be observed.

The stream waits in a function of the host. No kernel is compiled for it, and it never waits
longer than a limit, so that nothing hangs. Do not queue a copy from pageable memory on a stream
that only the same thread will open: the driver may wait for the stream inside that call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gradtool.device.protocol import Stream
from gradtool.transfer.machines.machine import Machine

LIMIT = 5.0
"""Seconds after which a held stream goes on in any case."""


class Hold:
    """Holds one stream from `close` to `open`."""

    def __init__(self, machine: Machine, stream: Stream, limit: float = LIMIT) -> None:
        self._machine, self._stream, self._limit = machine, stream, limit
        self._opened, self._stopped = threading.Event(), threading.Event()

    def close(self) -> None:
        """Hold the stream; return once it has stopped."""
        self._machine.host_function(self._stream, self._wait)
        self._stopped.wait(self._limit)

    def _wait(self) -> None:
        self._stopped.set()
        self._opened.wait(self._limit)

    def open(self) -> None:
        """Let the stream go on."""
        self._opened.set()


@contextmanager
def held(machine: Machine, stream: Stream) -> Iterator[Hold]:
    """Hold a stream in the block, unless it is opened there."""
    hold = Hold(machine, stream)
    hold.close()
    try:
        yield hold
    finally:
        # Opened first: `synchronize` would wait until the limit.
        hold.open()
        stream.synchronize()
