"""Copies by one call to the runtime between host memory of some kind and the device.

Also both directions at once, and the synchronous call. It works on the default stream, so that
is the one whose events mark it. From pageable memory to the device it may return before the copy
is done; the time to completion includes the rest.


Blocking means a wait for the stream after each tensor, as a plain ``.to(device)`` does.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradtool.results.transfer import Cell
from gradtool.transfer.machines.machine import Buffer, Call, Memory
from gradtool.transfer.measuring.operation import (
    Operation,
    Pair,
    Route,
    Slot,
    Slots,
    Workspace,
    parts_of,
    slot_count,
    slot_of,
)


def direct(memory: Memory) -> Route:
    """The route for a kind of host memory."""

    def route(cell: Cell, workspace: Workspace) -> Operation:
        return between(cell, workspace, workspace.host(memory, cell), workspace.device(cell))

    return route


def device_to_device(cell: Cell, workspace: Workspace) -> Operation:
    """Within the memory of one device."""
    return between(cell, workspace, workspace.device(cell, 1), workspace.device(cell))


def between(cell: Cell, workspace: Workspace, near: Buffer, far: Buffer) -> Operation:
    """Copies between two buffers: from the near one, unless the cell's direction is back."""
    count = slot_count(cell.total, workspace.rotation)

    def make(number: int) -> Slot:
        ends = [slot_of(buffer, cell.total, number) for buffer in (near, far)]
        source, target = reversed(ends) if cell.direction == "d2h" else ends
        return _slot(cell, workspace, source, target)

    return Operation(Slots(count, make), cache_hot=count * cell.total < workspace.rotation)


def _slot(cell: Cell, workspace: Workspace, source: Buffer, target: Buffer) -> Slot:
    places = zip(parts_of(target, cell), parts_of(source, cell), strict=True)
    copies = [workspace.machine.copier(to, of, workspace.stream) for to, of in places]
    wait = workspace.stream.synchronize if cell.mode == "blocking" else None
    return Slot(_in_order(copies, wait), [Pair(source, lambda: target)])


def _in_order(copies: Sequence[Call], wait: Call | None) -> Call:
    """All copies, with `wait` after each if given."""
    if len(copies) == 1 and wait is None:
        return copies[0]

    def without_waiting() -> None:
        for copy in copies:
            copy()

    def waiting_after_each() -> None:
        for copy in copies:
            copy()
            wait()  # type: ignore[misc]  # Not None here.

    return without_waiting if wait is None else waiting_after_each


def synchronous(memory: Memory) -> Route:
    """The route for a kind of host memory."""

    def route(cell: Cell, workspace: Workspace) -> Operation:
        count = slot_count(cell.total, workspace.rotation)
        near, far = workspace.host(memory, cell), workspace.device(cell)

        def make(number: int) -> Slot:
            ends = [slot_of(buffer, cell.total, number) for buffer in (near, far)]
            source, target = ends if cell.direction == "h2d" else reversed(ends)
            pairs = zip(parts_of(target, cell), parts_of(source, cell), strict=True)
            copies = [workspace.machine.waiting_copier(to, of) for to, of in pairs]

            def issue() -> None:
                for copy in copies:
                    copy()

            return Slot(issue, [Pair(source, lambda: target)])

        return Operation(
            Slots(count, make),
            cache_hot=count * cell.total < workspace.rotation,
            stream=workspace.machine.default_stream(),
            marked=not workspace.machine.on_host,
        )

    return route


def duplex(cell: Cell, workspace: Workspace) -> Operation:
    """The route; the size of a cell is that of each direction."""
    machine = workspace.machine
    there, back = workspace.side_stream(0), workspace.side_stream(1)
    begin, ends = machine.event(), (machine.event(), machine.event())
    count = slot_count(cell.total, workspace.rotation)
    near = workspace.host("pinned", cell), workspace.host("pinned", cell, 1)
    far = workspace.device(cell), workspace.device(cell, 1)

    def make(number: int) -> Slot:
        sent, returned = (slot_of(buffer, cell.total, number) for buffer in near)
        arrived, fetched = (slot_of(buffer, cell.total, number) for buffer in far)
        copies = (
            (there, machine.copier(arrived, sent, there), ends[0]),
            (back, machine.copier(returned, fetched, back), ends[1]),
        )

        def issue() -> None:
            begin.record(workspace.stream)
            for stream, copy, end in copies:
                stream.wait_event(begin)
                copy()
                end.record(stream)
                workspace.stream.wait_event(end)
            if cell.mode == "blocking":
                workspace.stream.synchronize()

        return Slot(issue, [_pair_of(sent, arrived), _pair_of(fetched, returned)])

    return Operation(Slots(count, make), cache_hot=count * cell.total < workspace.rotation)


def _pair_of(source: object, target: object) -> Pair:
    return Pair(source, lambda: target)
