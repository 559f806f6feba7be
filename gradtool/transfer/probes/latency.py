"""Latency of a single small copy: the time to issue it and to wait for it, copy by copy.

Cells have the average of many copies; a program that sends one value at a time, or waits for a
loss, meets the slow ones too. So each is timed on its own, and the 99th percentile is shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gradtool.measure.summary import quantile
from gradtool.results.transfer import Direction, Latency
from gradtool.transfer.errors import reason_of
from gradtool.transfer.machines.machine import Machine, Memory
from gradtool.transfer.plan.scenarios import SCENARIOS

SIZE = 8
"""Bytes: one number in double precision."""

COPIES = 1000

MEMORIES: tuple[Memory, ...] = ("pageable", "pinned")
DIRECTIONS: tuple[Direction, ...] = ("h2d", "d2h")


def measure_all(machine: Machine, copies: int = COPIES) -> Iterator[Latency]:
    """Measure copies in both directions, of both kinds of memory."""
    for memory in MEMORIES:
        for direction in DIRECTIONS:
            blank = Latency(
                simulated=machine.simulated, direction=direction, bytes=SIZE,
                memory=SCENARIOS[memory].label(on_host=machine.on_host),
            )  # fmt: skip
            yield _measured(blank, machine, memory, copies)


def _measured(blank: Latency, machine: Machine, memory: Memory, copies: int) -> Latency:
    try:
        times = sorted(_times(machine, memory, blank.direction, copies))
    except Exception as error:  # CUDA and CuPy raise errors of many kinds
        return replace(blank, unavailable=reason_of(error))
    return replace(blank, n=copies, p50=quantile(times, 0.5), p99=quantile(times, 0.99))


def _times(machine: Machine, memory: Memory, direction: Direction, copies: int) -> list[float]:
    """Seconds of each copy, after a tenth as many that do not count."""
    block, device, stream = machine.host(memory, SIZE), machine.device(SIZE), machine.stream()
    try:
        block.array.fill(1)
        ends = (device, block.array) if direction == "h2d" else (block.array, device)
        copy, clock = machine.copier(*ends, stream), machine.clock
        found = []
        for _ in range(copies + copies // 10):
            start = clock()
            copy()
            stream.synchronize()
            found.append((clock() - start) * 1e-9)
        return found[copies // 10 :]
    finally:
        machine.synchronize()
        block.close()
