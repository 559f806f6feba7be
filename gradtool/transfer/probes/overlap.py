"""Overlap of a copy with a computation: on the same stream, and on a stream of its own.

Efficiency is (copy + compute - both) / the shorter of the two, from 0 to 1. The copy is issued
after the computation, and before it: a call that waits for its stream, or a kernel that fills the
device, hides the overlap in one of the two orders.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from gradtool.device.protocol import Stream
from gradtool.measure.summary import Summary, summarize
from gradtool.results.transfer import Overlap
from gradtool.transfer.errors import reason_of
from gradtool.transfer.machines.machine import Call, Machine, Memory
from gradtool.transfer.plan.scenarios import SCENARIOS

SIZE = 16 << 20
SAMPLES = 9

Where = Literal["same stream", "side stream"]
First = Literal["kernel", "copy"]
ORDERS: tuple[First, ...] = ("kernel", "copy")


def measure_all(machine: Machine, largest: int, samples: int = SAMPLES) -> Iterator[Overlap]:
    """Measure copies to the device from both kinds of memory, each on both kinds of stream."""
    size = min(SIZE, largest)
    main, side = machine.stream(), machine.stream()
    memories: tuple[Memory, ...] = ("pageable", "pinned")
    for memory in memories:
        for where, copy_stream in _places(main, side):
            title = SCENARIOS[memory].label(on_host=machine.on_host)
            blank = Overlap(simulated=machine.simulated, memory=title, stream=where, bytes=size)
            try:
                copy, compute, both = _measured(machine, memory, size, main, copy_stream, samples)
            except Exception as error:  # CUDA and CuPy raise errors of many kinds
                yield replace(blank, unavailable=reason_of(error))
                continue
            for order in ORDERS:
                yield replace(
                    blank, first=order, copy=copy, compute=compute, both=both[order],
                    efficiency=efficiency(copy.median, compute.median, both[order].median),
                )  # fmt: skip


def _places(main: Stream, side: Stream) -> tuple[tuple[Where, Stream], ...]:
    return ("same stream", main), ("side stream", side)


def efficiency(copy: float, compute: float, both: float) -> float:
    """The share of the shorter one that is hidden."""
    return max(0.0, min(1.0, (copy + compute - both) / min(copy, compute)))


def _measured(
    machine: Machine, memory: Memory, size: int, main: Stream, side: Stream, samples: int
) -> tuple[Summary, Summary, dict[First, Summary]]:
    """The times of the copy, of the computation, and of both by the one that is issued first."""
    block = machine.host(memory, size)
    try:
        block.array.fill(1)
        copy = machine.copier(machine.device(size), block.array, side)
        alone = _seconds(machine, (copy,), (side,))
        compute = machine.computation(main, min(_seconds(machine, (copy,), (side,)), alone))
        calls = (copy,), (compute,), (compute, copy), (copy, compute)
        for issued in calls:
            _seconds(machine, issued, (main, side))
        found = [
            [_seconds(machine, issued, (main, side)) for issued in calls] for _ in range(samples)
        ]
        first, second, *both = (summarize(times) for times in zip(*found, strict=True))
        return first, second, dict(zip(ORDERS, both, strict=True))
    finally:
        machine.synchronize()
        block.close()


def _seconds(machine: Machine, calls: tuple[Call, ...], streams: tuple[Stream, ...]) -> float:
    """Seconds until all calls on the streams are done."""
    machine.synchronize()
    start = machine.clock()
    for call in calls:
        call()
    for stream in streams:
        stream.synchronize()
    return (machine.clock() - start) * 1e-9
