"""What is measured: operations that a route makes for a cell, and the places they copy between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from gradtool.device.protocol import Stream
from gradtool.results.transfer import Cell
from gradtool.transfer.machines.machine import Buffer, Call, HostBlock, Machine, Memory


@dataclass(frozen=True)
class Pair:
    """Bytes that an operation moves."""

    source: Buffer
    target: Callable[[], Buffer]
    """Where they arrive; asked for afterwards, since some operations make it."""
    spoil: bool = True
    """Whether the target is there before, to be overwritten with something else."""


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
        """A slot, or several."""
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
    """Told before a sample how many times it will be run; outside the timing."""
    finish: Call = _nothing
    """Called after a sample, outside the timing."""
    close: Call = _nothing
    """Gives back what it took."""
    most: int | None = None
    """How many runs a sample may have at most."""
    cache_hot: bool = False
    stream: Stream | None = None
    """The stream that it gives its work to, where that is not the workspace's."""
    marked: bool = True
    """Whether events mark its work, so that the time between them means something."""


@dataclass
class Workspace:
    """What a route has to work with."""

    machine: Machine
    stream: Stream
    buffers: Buffers
    rotation: int
    """Bytes that copies should go round."""
    streams: list[Stream] = field(default_factory=list)

    def side_stream(self, number: int) -> Stream:
        """A stream beside the main one."""
        while len(self.streams) <= number:
            self.streams.append(self.machine.stream())
        return self.streams[number]


Route = Callable[[Cell, Workspace], Operation]
"""Makes the operation of a cell; raises UnavailableError where it cannot be."""


MOST_SLOTS = 1024
"""Slots that a buffer is cut into at most; small copies then stay in the caches, and say so."""


class Buffers:
    """Buffers of a machine, made when they are first asked for."""

    def __init__(self, machine: Machine, *, host: int, device: int) -> None:
        self._machine = machine
        self._host_size, self._device_size = host, device
        self._host: dict[tuple[Memory, int], HostBlock] = {}
        self._device: dict[int, Buffer] = {}

    def host(self, memory: Memory, part: int = 0) -> Buffer:
        """The host's buffer of a kind, every page touched; another one for another part."""
        key = memory, part
        if key not in self._host:
            block = self._machine.host(memory, self._host_size)
            self._host[key] = block
            block.array.fill(1)
        return self._host[key].array

    def device(self, part: int = 0) -> Buffer:
        """The device's buffer; another one for another part."""
        if part not in self._device:
            self._device[part] = self._machine.device(self._device_size)
        return self._device[part]

    def close(self) -> None:
        """Give all of it back."""
        self._machine.synchronize()
        self._device.clear()
        while self._host:
            self._host.popitem()[1].close()


def slot_count(size: int, rotation: int) -> int:
    """Into how many slots of a size a buffer is cut, to go round that many bytes."""
    return max(1, min(-(-rotation // size), MOST_SLOTS))


def slot_of(buffer: Any, size: int, number: int) -> Any:
    """One of the slots that lie one after another in a buffer."""
    return buffer[number * size : (number + 1) * size]


def parts_of(slot: Any, tensors: int) -> list[Any]:
    """A slot as so many equal parts."""
    size = len(slot) // tensors
    return [slot[start : start + size] for start in range(0, tensors * size, size)]
