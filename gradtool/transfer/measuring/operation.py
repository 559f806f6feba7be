"""Operations that a route makes for a cell, and the buffers that they copy between.

Copies go round many slots of a buffer, so that no copy finds its bytes in the host's caches
because the one before left them there.
"""

from __future__ import annotations

import itertools
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

    def host(self, memory: Memory, cell: Cell, part: int = 0) -> Buffer:
        """Host memory of a kind for all slots of a cell; each part has its own."""
        return self.buffers.host(memory, self._bytes(cell), part)

    def device(self, cell: Cell, part: int = 0) -> Buffer:
        """Memory of the device for all slots of a cell; each part has its own."""
        return self.buffers.device(self._bytes(cell), part)

    def _bytes(self, cell: Cell) -> int:
        return slot_count(cell.total, self.rotation) * cell.total

    def side_stream(self, number: int) -> Stream:
        """An additional stream."""
        while len(self.streams) <= number:
            self.streams.append(self.machine.stream())
        return self.streams[number]


Route = Callable[[Cell, Workspace], Operation]
"""Makes the operation of a cell; raises UnavailableError where it is impossible."""


MOST_SLOTS = 256
"""Slots of a buffer at most; small copies then stay in the caches, and are marked so."""


class Buffers:
    """Buffers of a machine, allocated on first use, and anew when a larger one is needed."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._host: dict[tuple[Memory, int], list[HostBlock]] = {}
        self._device: dict[int, Buffer] = {}

    def host(self, memory: Memory, size: int, part: int = 0) -> Buffer:
        """The host's buffer of a kind, of that size at least, every page touched."""
        blocks = self._host.setdefault((memory, part), [])
        if not blocks or blocks[-1].array.nbytes < size:
            block = self._machine.host(memory, size)
            blocks.append(block)  # The smaller ones are still in use by other operations.
            block.array.fill(1)
        return blocks[-1].array

    def device(self, size: int, part: int = 0) -> Buffer:
        """The device's buffer, of that size at least."""
        if part not in self._device or self._device[part].nbytes < size:
            self._device[part] = self._machine.device(size)
        return self._device[part]

    def close(self) -> None:
        """Release all buffers."""
        self._device.clear()
        for blocks in self._host.values():
            while blocks:
                blocks.pop().close()


def slot_count(size: int, rotation: int) -> int:
    """The number of slots of a size that together have `rotation` bytes."""
    return max(1, min(-(-rotation // size), MOST_SLOTS))


def slot_of(buffer: Any, size: int, number: int) -> Any:
    """One of the consecutive slots of a buffer."""
    return buffer[number * size : (number + 1) * size]


def parts_of(slot: Any, cell: Cell) -> list[Any]:
    """Cut a slot into the parts of a cell, one for each tensor."""
    ends = list(itertools.accumulate(cell.sizes))
    return [slot[end - size : end] for end, size in zip(ends, cell.sizes, strict=True)]
