"""The runtime's copy that waits by itself, beside the one that is waited for.

It works on the default stream, so that is the one whose events mark it. From pageable memory
to the device it may return before the copy is done; the time to completion counts the rest.
"""

from __future__ import annotations

from gradtool.results.transfer import Cell
from gradtool.transfer.buffers import parts_of, slot_count, slot_of
from gradtool.transfer.machine import Memory
from gradtool.transfer.operation import Bench, Operation, Pair, Route, Slot, Slots


def synchronous(memory: Memory) -> Route:
    """The route for a kind of host memory."""

    def route(cell: Cell, bench: Bench) -> Operation:
        count = slot_count(cell.total, bench.rotation)
        near, far = bench.buffers.host(memory), bench.buffers.device()

        def make(number: int) -> Slot:
            ends = [slot_of(buffer, cell.total, number) for buffer in (near, far)]
            source, target = ends if cell.direction == "h2d" else reversed(ends)
            pairs = zip(parts_of(target, cell.tensors), parts_of(source, cell.tensors), strict=True)
            copies = [bench.machine.waiting_copier(to, of) for to, of in pairs]

            def issue() -> None:
                for copy in copies:
                    copy()

            return Slot(issue, [Pair(source, lambda: target)])

        return Operation(
            Slots(count, make),
            cache_hot=count * cell.total < bench.rotation,
            stream=bench.machine.default_stream(),
            marked=not bench.machine.simulated,
        )

    return route
