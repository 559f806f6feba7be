"""The buffers that all cells share: one for each kind of memory, cut into slots.

Copies go round many slots, so that no copy finds its bytes in the host's caches because the
one before left them there.
"""

from __future__ import annotations

from typing import Any

from gradtool.transfer.machine import Buffer, HostBlock, Machine, Memory

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
