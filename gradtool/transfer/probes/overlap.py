"""Overlap of a copy with a computation: on the same stream, and on a stream of its own.

Efficiency is (copy + compute - both) / the shorter of the two, from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from gradtool.device.protocol import Stream
from gradtool.measure.summary import Summary, summarize
from gradtool.results.transfer import Overlap
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.machines.machine import Call, Machine, Memory
from gradtool.transfer.plan.scenarios import SCENARIOS

SIZE = 16 << 20
SAMPLES = 9

Where = Literal["same stream", "side stream"]


def measure_all(machine: Machine, largest: int, samples: int = SAMPLES) -> Iterator[Overlap]:
    """Measure copies to the device from both kinds of memory, each on both kinds of stream."""
    size = min(SIZE, largest)
    main, side = machine.stream(), machine.stream()
    memories: tuple[Memory, ...] = ("pageable", "pinned")
    for memory in memories:
        for where, copy_stream in _places(main, side):
            title = SCENARIOS[memory].label(on_host=machine.on_host)
            try:
                times = _measured(machine, memory, size, main, copy_stream, samples)
            except (UnavailableError, MemoryError, RuntimeError) as error:
                yield Overlap(
                    simulated=machine.simulated, memory=title, stream=where, bytes=size,
                    unavailable=str(error),
                )  # fmt: skip
                continue
            copy, compute, both = times
            yield Overlap(
                simulated=machine.simulated, memory=title, stream=where, bytes=size, copy=copy,
                compute=compute, both=both,
                efficiency=efficiency(copy.median, compute.median, both.median),
            )  # fmt: skip


def _places(main: Stream, side: Stream) -> tuple[tuple[Where, Stream], ...]:
    return ("same stream", main), ("side stream", side)


def efficiency(copy: float, compute: float, both: float) -> float:
    """The share of the shorter one that is hidden."""
    return max(0.0, min(1.0, (copy + compute - both) / min(copy, compute)))


def _measured(
    machine: Machine, memory: Memory, size: int, main: Stream, side: Stream, samples: int
) -> tuple[Summary, Summary, Summary]:
    block = machine.host(memory, size)
    try:
        block.array.fill(1)
        copy = machine.copier(machine.device(size), block.array, side)
        alone = _seconds(machine, (copy,), (side,))
        compute = machine.computation(main, min(_seconds(machine, (copy,), (side,)), alone))
        _seconds(machine, (compute, copy), (main, side))
        found = [
            (
                _seconds(machine, (copy,), (side,)),
                _seconds(machine, (compute,), (main,)),
                _seconds(machine, (compute, copy), (main, side)),
            )
            for _ in range(samples)
        ]
        first, second, third = (summarize(times) for times in zip(*found, strict=True))
        return first, second, third
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
