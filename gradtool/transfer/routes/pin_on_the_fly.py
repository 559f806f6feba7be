"""Page-locked memory for one copy: allocate, copy into it, send, release.

Without blocking, a block is kept until the next copy was queued. So each copy but the first pays
for the release of one block, whether one copy is timed or many.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from gradtool.device.protocol import Event
from gradtool.results.transfer import Cell
from gradtool.transfer.machines.machine import Buffer, HostBlock
from gradtool.transfer.measuring.operation import (
    Operation,
    Pair,
    Slot,
    Slots,
    Workspace,
    parts_of,
    slot_count,
    slot_of,
)

_UNDER_WAY = 1


def pin_on_the_fly(cell: Cell, workspace: Workspace) -> Operation:
    """The route."""
    workspace.machine.host("pinned", 4096).close()  # Refused here rather than in the first sample.
    pinning = _Pinning(workspace, blocking=cell.mode == "blocking")
    move = pinning.send if cell.direction == "h2d" else pinning.fetch
    count = slot_count(cell.total, workspace.rotation)
    near, far = workspace.host("pageable", cell), workspace.device(cell)

    def make(number: int) -> Slot:
        ends = [slot_of(buffer, cell.total, number) for buffer in (near, far)]
        source, target = ends if cell.direction == "h2d" else reversed(ends)
        return _slot(cell, move, source, target)

    hot = count * cell.total < workspace.rotation
    slots = Slots(count, make)
    return Operation(slots, close=pinning.drain, cache_hot=hot)


def _slot(cell: Cell, move: Any, source: Buffer, target: Buffer) -> Slot:
    places = list(zip(parts_of(source, cell), parts_of(target, cell), strict=True))

    def issue() -> None:
        for of, to in places:
            move(of, to)

    return Slot(issue, [Pair(source, lambda: target)])


class _Pinning:
    """Blocks of page-locked memory that live as long as their copies."""

    def __init__(self, workspace: Workspace, *, blocking: bool) -> None:
        self._machine, self._stream = workspace.machine, workspace.stream
        self._blocking = blocking
        self._under_way: deque[tuple[HostBlock, Event]] = deque()

    def send(self, source: Buffer, target: Buffer) -> None:
        """Copy from pageable memory to the device."""
        block = self._machine.host("pinned", len(source))
        np.copyto(block.array, source)
        self._machine.copier(target, block.array, self._stream)()
        if self._blocking:
            self._stream.synchronize()
            block.close()
            return
        event = self._machine.event()
        event.record(self._stream)
        self._under_way.append((block, event))
        if len(self._under_way) > _UNDER_WAY:
            self._release()

    def fetch(self, source: Buffer, target: Buffer) -> None:
        """Copy from the device to pageable memory."""
        block = self._machine.host("pinned", len(target))
        self._machine.copier(block.array, source, self._stream)()
        self._stream.synchronize()
        np.copyto(target, block.array)
        block.close()

    def _release(self) -> None:
        block, event = self._under_way.popleft()
        event.synchronize()
        block.close()

    def drain(self) -> None:
        """Wait for the copies under way and release their blocks."""
        while self._under_way:
            self._release()
