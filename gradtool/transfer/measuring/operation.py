"""Operations that a route makes for a cell, and the buffers that they copy between.

Copies go round many slots of a buffer, so that no copy finds its bytes in the host's caches
because the one before left them there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from gradtool.device.protocol import Stream
from gradtool.results.transfer import Cell
from gradtool.transfer.machines.machine import Buffer, Call, HostBlock, Machine, Memory


@dataclass(frozen=True)
class Pair:
    """Bytes that an operation copies."""

    source: Buffer
    target: Callable[[], Buffer]
    """Gives the place where they arrive; called afterwards, since some operations allocate it."""
    spoil: bool = True
    """The target exists before the operation, and is overwritten with other bytes."""


@dataclass(frozen=True)
class Slot:
    """An operation on one part of the buffers."""

    issue: Call
    pairs: Sequence[Pair]


class Slots(Sequence[Slot]):
    """Slots that are made when they are first used: there may be a thousand."""

    def __init__(self, count: int, make: Callable[[int], Slot]) -> None:
        self._made: list[Slot | None] = [None] * count
        self._make = make

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, number: int) -> Slot: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Slot]: ...
    def __getitem__(self, number: int | slice) -> Slot | Sequence[Slot]:
        """Make a slot on its first use."""
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        slot = self._made[number]
        if slot is None:
            slot = self._made[number] = self._make(number)
        return slot


def _nothing() -> None:
    return None


def _nothing_for(_count: int) -> None:
    return None


@dataclass
class Operation:
    """One operation, on slots that are used in turn."""

    slots: Sequence[Slot]
    prepare: Callable[[int], None] = _nothing_for
    """Called before a sample with its number of runs, outside of the measured time."""
    finish: Call = _nothing
    """Called after a sample, outside of the measured time."""
    close: Call = _nothing
    """Releases its resources."""
    most: int | None = None
    """Highest number of runs in a sample."""
    cache_hot: bool = False
    stream: Stream | None = None
    """The stream that it queues its work on, if it is not the workspace's."""
    marked: bool = True
    """Events mark its work, so that the time between them is meaningful."""


@dataclass
class Workspace:
    """Resources of a route."""

    machine: Machine
    stream: Stream
    buffers: Buffers
    rotation: int
    """Bytes of all slots together that copies go round."""
    streams: list[Stream] = field(default_factory=list)

    def side_stream(self, number: int) -> Stream:
        """An additional stream."""
        while len(self.streams) <= number:
            self.streams.append(self.machine.stream())
        return self.streams[number]


Route = Callable[[Cell, Workspace], Operation]
"""Makes the operation of a cell; raises UnavailableError where it is impossible."""


MOST_SLOTS = 1024
"""Slots of a buffer at most; small copies then stay in the caches, and are marked so."""


class Buffers:
    """Buffers of a machine, allocated on first use."""

    def __init__(self, machine: Machine, *, host: int, device: int) -> None:
        self._machine = machine
        self._host_size, self._device_size = host, device
        self._host: dict[tuple[Memory, int], HostBlock] = {}
        self._device: dict[int, Buffer] = {}

    def host(self, memory: Memory, part: int = 0) -> Buffer:
        """The host's buffer of a kind, every page touched; each part has its own."""
        key = memory, part
        if key not in self._host:
            block = self._machine.host(memory, self._host_size)
            self._host[key] = block
            block.array.fill(1)
        return self._host[key].array

    def device(self, part: int = 0) -> Buffer:
        """The device's buffer; each part has its own."""
        if part not in self._device:
            self._device[part] = self._machine.device(self._device_size)
        return self._device[part]

    def close(self) -> None:
        """Release all buffers."""
        self._machine.synchronize()
        self._device.clear()
        while self._host:
            self._host.popitem()[1].close()


def slot_count(size: int, rotation: int) -> int:
    """The number of slots of a size that together have `rotation` bytes."""
    return max(1, min(-(-rotation // size), MOST_SLOTS))


def slot_of(buffer: Any, size: int, number: int) -> Any:
    """One of the consecutive slots of a buffer."""
    return buffer[number * size : (number + 1) * size]


def parts_of(slot: Any, tensors: int) -> list[Any]:
    """Cut a slot into equal parts, one for each tensor."""
    size = len(slot) // tensors
    return [slot[start : start + size] for start in range(0, tensors * size, size)]
