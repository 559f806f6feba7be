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
    """Host memory of some kind, and the call that releases it."""

    array: Buffer
    release: Call

    def close(self) -> None:
        """Release it; the array must not be used any more."""
        release, self.release = self.release, _nothing
        del self.array
        release()


def _nothing() -> None:
    return None


class Machine(Protocol):
    """A device, or a stand-in for one."""

    @property
    def simulated(self) -> bool:
        """True where host memory stands in for the device's."""

    @property
    def on_host(self) -> bool:
        """True where there is no CUDA: copies are made by threads of this process."""

    @property
    def clock(self) -> Clock:
        """The host's clock."""

    @property
    def place(self) -> str:
        """Device name for tensors of the engine: ``cuda:0``, or ``cpu``."""

    @property
    def device_name(self) -> str:
        """The device's own name."""

    def describe(self, header: Header) -> tuple[Header, Link]:
        """Add the device to the header; return it with the link, both read under load."""

    def near(self) -> AbstractContextManager[Any]:
        """Run on processors near the device, if known, so that buffers lie near it."""

    def free_memory(self) -> tuple[int, int]:
        """Free bytes of the host and of the device; of one memory if they share it."""

    def host(self, memory: Memory, size: int) -> HostBlock:
        """New host memory of a kind; its pages need not have been touched.

        Raises:
            UnavailableError: There is no such memory here, or the system refused it.
        """

    def lock(self, array: Buffer) -> Call:
        """Page-lock an array's memory; return the call that unlocks it. Raises as `host` does."""

    def device(self, size: int) -> Buffer:
        """Memory of the device."""

    def stream(self) -> Stream:
        """A new stream."""

    def event(self) -> Event:
        """A new event that records the time."""

    def copier(self, target: Buffer, source: Buffer, stream: Stream) -> Call:
        """A call that queues a copy on a stream, with minimal overhead of its own."""

    def default_stream(self) -> Stream:
        """The stream that `waiting_copier` copies on."""

    def waiting_copier(self, target: Buffer, source: Buffer) -> Call:
        """A call that copies by the runtime's synchronous function."""

    def pooled(self, size: int) -> HostBlock:
        """Page-locked memory from a pool, which reuses released memory at once.

        Raises as `host` does.
        """

    def host_function(self, stream: Stream, function: Call) -> None:
        """Queue a function of the host on a stream."""

    def write(self, target: Buffer, data: Buffer) -> None:
        """Write bytes to memory of the device and wait, by another route than those measured."""

    def read(self, source: Buffer) -> Buffer:
        """Read bytes of the device's memory."""

    def computation(self, stream: Stream, seconds: float) -> Call:
        """A call that queues a computation of about `seconds` on a stream."""

    def current(self, stream: Stream) -> AbstractContextManager[Any]:
        """Make a stream the default for work in the block."""

    def synchronize(self) -> None:
        """Wait until all work is done."""

    def close(self) -> None:
        """Release everything."""
