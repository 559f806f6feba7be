"""Operations that a machine offers to be measured: memory, streams, copies, a computation.

`gradtool.transfer.machines.cuda.machine` offers those of a CUDA device,
`gradtool.transfer.machines.host.machine` those of host memory that stands in for one. All buffers
are arrays of bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from gradtool.device.protocol import Event, Stream
from gradtool.measure.clock import Clock
from gradtool.results.transfer import Header, Link

Memory = Literal["pageable", "pinned", "registered", "write-combined"]
"""Kinds of host memory."""

Buffer = Any
"""A one-dimensional contiguous array of bytes, of NumPy's or of the device's."""

Call = Callable[[], Any]


@dataclass
class HostBlock:
    """Host memory of some kind, and how to give it back."""

    array: Buffer
    release: Call

    def close(self) -> None:
        """Give it back; the array must not be used any more."""
        release, self.release = self.release, _nothing
        del self.array
        release()


def _nothing() -> None:
    return None


class Machine(Protocol):
    """A device, or what stands in for one."""

    @property
    def simulated(self) -> bool:
        """Whether host memory stands in for the device."""

    @property
    def clock(self) -> Clock:
        """The host's clock."""

    @property
    def place(self) -> str:
        """What tensors of the engine are moved to: ``cuda:0``, or ``cpu``."""

    @property
    def device_name(self) -> str:
        """What the device calls itself."""

    def describe(self, header: Header) -> tuple[Header, Link]:
        """The header with what is known of the device, and its link, under load."""

    def near(self) -> AbstractContextManager[Any]:
        """Run on processors near the device, where that is known: buffers then lie near it."""

    def free_memory(self) -> tuple[int, int]:
        """Free bytes of the host and of the device; of one memory if they share it."""

    def host(self, memory: Memory, size: int) -> HostBlock:
        """New host memory of a kind; its pages need not have been touched.

        Raises:
            UnavailableError: there is no such memory here, or the system refused it.
        """

    def lock(self, array: Buffer) -> Call:
        """Page-lock an array's memory; gives what unlocks it. Raises as `host` does."""

    def device(self, size: int) -> Buffer:
        """Memory of the device."""

    def stream(self) -> Stream:
        """A new stream, beside all others."""

    def event(self) -> Event:
        """A new event that keeps the time."""

    def copier(self, target: Buffer, source: Buffer, stream: Stream) -> Call:
        """What gives a copy to a stream, with as little around the runtime's call as can be."""

    def default_stream(self) -> Stream:
        """The stream that `waiting_copier` copies on."""

    def waiting_copier(self, target: Buffer, source: Buffer) -> Call:
        """What copies by the runtime's call that waits by itself, as far as it says it does."""

    def pooled(self, size: int) -> HostBlock:
        """Page-locked memory from a pool, which hands out again at once what it is given back.

        Raises as `host` does.
        """

    def host_function(self, stream: Stream, function: Call) -> None:
        """Let a stream call a function of the host when its turn has come."""

    def write(self, target: Buffer, data: Buffer) -> None:
        """Put bytes in memory of the device, and wait; not by the way that is measured."""

    def read(self, source: Buffer) -> Buffer:
        """Bytes of the device's memory, likewise."""

    def computation(self, stream: Stream, seconds: float) -> Call:
        """What gives a stream a computation of about so many seconds."""

    def current(self, stream: Stream) -> AbstractContextManager[Any]:
        """Make a stream the one that work is given to unasked."""

    def synchronize(self) -> None:
        """Wait until all work is done."""

    def close(self) -> None:
        """Give everything back."""
