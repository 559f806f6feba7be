"""Straight from host memory of some kind to the device, or back, by the runtime's own call.

Blocking means a wait for the stream after each tensor, as a plain ``.to(device)`` does it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradtool.results.transfer import Cell
from gradtool.transfer.buffers import parts_of, slot_count, slot_of
from gradtool.transfer.machine import Buffer, Call, Memory
from gradtool.transfer.operation import Bench, Operation, Pair, Route, Slot, Slots


def direct(memory: Memory) -> Route:
    """The route for a kind of host memory."""

    def route(cell: Cell, bench: Bench) -> Operation:
        return between(cell, bench, bench.buffers.host(memory), bench.buffers.device())

    return route


def device_to_device(cell: Cell, bench: Bench) -> Operation:
    """Within the memory of one device."""
    return between(cell, bench, bench.buffers.device(1), bench.buffers.device())


def between(cell: Cell, bench: Bench, near: Buffer, far: Buffer) -> Operation:
    """Copies between two buffers: from the near one, unless the cell's direction is back."""
    count = slot_count(cell.total, bench.rotation)

    def make(number: int) -> Slot:
        ends = [slot_of(buffer, cell.total, number) for buffer in (near, far)]
        source, target = reversed(ends) if cell.direction == "d2h" else ends
        return _slot(cell, bench, source, target)

    return Operation(Slots(count, make), cache_hot=count * cell.total < bench.rotation)


def _slot(cell: Cell, bench: Bench, source: Buffer, target: Buffer) -> Slot:
    places = zip(parts_of(target, cell.tensors), parts_of(source, cell.tensors), strict=True)
    copies = [bench.machine.copier(to, of, bench.stream) for to, of in places]
    wait = bench.stream.synchronize if cell.mode == "blocking" else None
    return Slot(_in_order(copies, wait), [Pair(source, lambda: target)])


def _in_order(copies: Sequence[Call], wait: Call | None) -> Call:
    """All copies, with a wait after each if there is one to do."""
    if len(copies) == 1 and wait is None:
        return copies[0]

    def without_waiting() -> None:
        for copy in copies:
            copy()

    def with_a_wait_each() -> None:
        for copy in copies:
            copy()
            wait()  # type: ignore[misc]  # not None here

    return without_waiting if wait is None else with_a_wait_each
