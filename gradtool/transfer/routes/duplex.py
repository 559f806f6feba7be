"""Both directions at once, on a stream each, between page-locked memory and the device."""

from __future__ import annotations

from gradtool.transfer.buffers import slot_count, slots_of
from gradtool.transfer.operation import Bench, Operation, Pair, Slot
from gradtool.transfer_results import Cell


def duplex(cell: Cell, bench: Bench) -> Operation:
    """The route; the size of a cell is that of each direction."""
    machine, buffers = bench.machine, bench.buffers
    there, back = bench.side_stream(0), bench.side_stream(1)
    begin, ends = machine.event(), (machine.event(), machine.event())
    count = slot_count(cell.total, bench.rotation)
    quarters = (
        slots_of(buffer, cell.total, count)
        for buffer in (
            buffers.host("pinned"), buffers.device(), buffers.device(1), buffers.host("pinned", 1)
        )
    )  # fmt: skip
    slots = []
    for sent, arrived, fetched, returned in zip(*quarters, strict=True):
        send = machine.copier(arrived, sent, there)
        fetch = machine.copier(returned, fetched, back)

        def issue(send=send, fetch=fetch) -> None:  # type: ignore[no-untyped-def]
            begin.record(bench.stream)
            for stream, copy, end in ((there, send, ends[0]), (back, fetch, ends[1])):
                stream.wait_event(begin)
                copy()
                end.record(stream)
                bench.stream.wait_event(end)
            if cell.mode == "blocking":
                bench.stream.synchronize()

        pairs = [_pair(sent, arrived), _pair(fetched, returned)]
        slots.append(Slot(issue, pairs))
    return Operation(slots, cache_hot=count * cell.total < bench.rotation)


def _pair(source: object, target: object) -> Pair:
    return Pair(source, lambda: target)
