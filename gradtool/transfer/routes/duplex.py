"""Both directions at once, on a stream each, between page-locked memory and the device."""

from __future__ import annotations

from gradtool.results.transfer import Cell
from gradtool.transfer.buffers import slot_count, slot_of
from gradtool.transfer.operation import Bench, Operation, Pair, Slot, Slots


def duplex(cell: Cell, bench: Bench) -> Operation:
    """The route; the size of a cell is that of each direction."""
    machine, buffers = bench.machine, bench.buffers
    there, back = bench.side_stream(0), bench.side_stream(1)
    begin, ends = machine.event(), (machine.event(), machine.event())
    count = slot_count(cell.total, bench.rotation)
    near = buffers.host("pinned"), buffers.host("pinned", 1)
    far = buffers.device(), buffers.device(1)

    def make(number: int) -> Slot:
        sent, returned = (slot_of(buffer, cell.total, number) for buffer in near)
        arrived, fetched = (slot_of(buffer, cell.total, number) for buffer in far)
        copies = (
            (there, machine.copier(arrived, sent, there), ends[0]),
            (back, machine.copier(returned, fetched, back), ends[1]),
        )

        def issue() -> None:
            begin.record(bench.stream)
            for stream, copy, end in copies:
                stream.wait_event(begin)
                copy()
                end.record(stream)
                bench.stream.wait_event(end)
            if cell.mode == "blocking":
                bench.stream.synchronize()

        return Slot(issue, [_pair(sent, arrived), _pair(fetched, returned)])

    return Operation(Slots(count, make), cache_hot=count * cell.total < bench.rotation)


def _pair(source: object, target: object) -> Pair:
    return Pair(source, lambda: target)
