"""One sample of an operation: three times, since a single one would hide what waits for what."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from gradtool.device.protocol import Event, Stream
from gradtool.measure.clock import Clock
from gradtool.transfer.machines.machine import Call

RESOLUTION = 1e-6
"""Seconds by which times of events may be off: CUDA states about half a microsecond."""


@dataclass(frozen=True)
class Times:
    """Seconds for one operation, from one sample of several."""

    call: float
    """The host issued it."""
    done: float
    """It was complete on the host's clock."""
    device: float
    """Between two events around it."""
    envelope: float
    """From before the first event was recorded to after the last one: no device time exceeds it."""
    runs: int

    @property
    def possible(self) -> bool:
        """True if the device's time fits into the time that passed on the host."""
        return 0 <= self.device <= self.envelope + RESOLUTION / self.runs


def timed(calls: Sequence[Call], stream: Stream, start: Event, end: Event, clock: Clock) -> Times:
    """Issue calls back to back and wait for the stream; return the average times of a call."""
    # A collection in the measured time would count as the operation's.
    with _no_collection():
        before = clock()
        start.record(stream)
        first = clock()
        for call in calls:
            call()
        issued = clock()
        end.record(stream)
        end.synchronize()
        last = clock()
    # CUDA events count milliseconds.
    device = start.elapsed_time(end) * 1e-3
    scale = 1e-9 / len(calls)
    return Times(
        call=(issued - first) * scale,
        done=(last - first) * scale,
        device=device / len(calls),
        envelope=(last - before) * scale,
        runs=len(calls),
    )


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable the garbage collector in the block."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
