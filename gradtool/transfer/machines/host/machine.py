"""The host, standing in for a device: `gradtool.transfer.machines.machine.Machine` with threads."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.device import HOST
from gradtool.measure.clock import CLOCK, Clock
from gradtool.results.transfer import Header, Link
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.machines.host.locked_memory import lock_pages
from gradtool.transfer.machines.host.worker_stream import WorkerEvent, WorkerStream
from gradtool.transfer.machines.machine import Buffer, Call, HostBlock, Memory
from gradtool.transfer.machines.pages import fresh_pages, touch

_COMPUTED = 1 << 15
"""Elements of the array in a computation: they stay in a core's cache."""


class HostMachine:
    """Copies by memcpy on threads, with host memory as the device's."""

    simulated = True
    on_host = True
    place = "cpu"

    def __init__(self, clock: Clock = CLOCK) -> None:
        self.clock = clock
        self.device_name = "host memory (no device)"
        self._streams: list[WorkerStream] = []
        self._default: WorkerStream | None = None
        self._pool: dict[int, list[HostBlock]] = {}

    def describe(self, header: Header) -> tuple[Header, Link]:
        """Return the header as it is: there is no device, and no link."""
        return header, Link(unknown="n/a: no device")

    def near(self) -> contextlib.AbstractContextManager[Any]:
        """Do nothing: all processors are near."""
        return contextlib.nullcontext()

    def free_memory(self) -> tuple[int, int]:
        """Free bytes of the one memory, twice."""
        free = HOST.memory().free
        return free, free

    def host(self, memory: Memory, size: int) -> HostBlock:
        """New memory: never touched, or with all of its pages locked, which touches them."""
        if memory == "write-combined":
            raise UnavailableError("write-combined memory needs CUDA")
        array = fresh_pages(size)
        if memory == "pageable":
            return HostBlock(array, lambda: None)
        if memory == "registered":
            touch(array)
        return HostBlock(array, lock_pages(array))

    def lock(self, array: Buffer) -> Call:
        """Lock an array's pages."""
        return lock_pages(array)

    def device(self, size: int) -> Buffer:
        """Other host memory, its pages touched, since a device's memory is there from the start."""
        array = fresh_pages(size)
        touch(array)
        return array

    def stream(self) -> WorkerStream:
        """A new thread."""
        stream = WorkerStream(self.clock)
        self._streams.append(stream)
        return stream

    def event(self) -> WorkerEvent:
        """A new event."""
        return WorkerEvent(self.clock)

    def copier(self, target: Buffer, source: Buffer, stream: Any) -> Call:
        """Queue a memcpy on a thread."""
        return functools.partial(stream.submit, functools.partial(np.copyto, target, source))

    def default_stream(self) -> WorkerStream:
        """A thread of its own; `waiting_copier` does not use it."""
        return self._default or self._made_default()

    def _made_default(self) -> WorkerStream:
        self._default = self.stream()
        return self._default

    def waiting_copier(self, target: Buffer, source: Buffer) -> Call:
        """Memcpy in the thread that calls it."""
        return functools.partial(np.copyto, target, source)

    def pooled(self, size: int) -> HostBlock:
        """Take from a pool of locked pages the block that was given back last."""
        free_blocks = self._pool.setdefault(size, [])
        block = free_blocks.pop() if free_blocks else self.host("pinned", size)
        return HostBlock(block.array, functools.partial(free_blocks.append, block))

    def host_function(self, stream: Any, function: Call) -> None:
        """Queue a function on a thread."""
        stream.submit(function)

    def write(self, target: Buffer, data: Buffer) -> None:
        """Copy at once."""
        np.copyto(target, data)

    def read(self, source: Buffer) -> Buffer:
        """Return the bytes without a copy."""
        return source

    def computation(self, stream: Any, seconds: float) -> Call:
        """Queue multiplications of a small array, as many as fill the time."""
        numbers = np.ones(_COMPUTED, np.float32)
        start = self.clock()
        _compute(numbers, 64)
        each = max(self.clock() - start, 1) / 64
        steps = max(1, round(seconds * 1e9 / each))
        return functools.partial(stream.submit, functools.partial(_compute, numbers, steps))

    def current(
        self,
        stream: Any,  # noqa: ARG002 - the protocol names it
    ) -> contextlib.AbstractContextManager[Any]:
        """Do nothing: the engine's copies of host memory use no streams."""
        return contextlib.nullcontext()

    def synchronize(self) -> None:
        """Wait for every thread."""
        for stream in self._streams:
            stream.synchronize()

    def close(self) -> None:
        """End the threads, and release the blocks of the pool."""
        while self._streams:
            self._streams.pop().close()
        for blocks in self._pool.values():
            while blocks:
                blocks.pop().close()


def _compute(numbers: Any, steps: int) -> None:
    multiply: Callable[..., Any] = np.multiply
    for _ in range(steps):
        multiply(numbers, numbers, out=numbers)
