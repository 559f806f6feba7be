"""Does this call return before the copy is done? Hold the stream shut, call, and see.

The documentation of CUDA leaves open when a copy of pageable memory returns, so the answer is
measured on the driver that is there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Literal

from gradtool.device.protocol import Stream
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.hold import Hold
from gradtool.transfer.machine import Call, HostBlock, Machine, Memory
from gradtool.transfer.scenarios import SCENARIOS
from gradtool.transfer_results import Asynchrony, Direction

SIZES = (4 << 10, 64 << 10, (64 << 10) + 1, 1 << 20, 64 << 20)
"""CUDA documents that up to 64 KiB are handled differently."""

HELD = 0.05
"""Seconds for which the stream is shut."""

_WAITED = 0.8
"""The part of that time in which a call that waited cannot have returned."""

MEMORIES: tuple[Memory, ...] = ("pageable", "pinned")
DIRECTIONS: tuple[Direction, ...] = ("h2d", "d2h")


def probe_all(machine: Machine, largest: int, held: float = HELD) -> Iterator[Asynchrony]:
    """The raw call for both kinds of memory, both directions and sizes up to the largest."""
    sizes = [size for size in SIZES if size <= largest]
    for memory in MEMORIES:
        try:
            block = machine.host(memory, max(sizes))
        except UnavailableError as error:
            yield from (_record(machine, memory, each, 0, reason=str(error)) for each in DIRECTIONS)
            continue
        try:
            block.array.fill(1)
            yield from _probe_memory(machine, memory, block, sizes, held)
        finally:
            machine.synchronize()
            block.close()


def _probe_memory(
    machine: Machine, memory: Memory, block: HostBlock, sizes: list[int], held: float
) -> Iterator[Asynchrony]:
    stream, device = machine.stream(), machine.device(max(sizes))
    for direction in DIRECTIONS:
        for size in sizes:
            ends = (device[:size], block.array[:size])
            target, source = ends if direction == "h2d" else ends[::-1]
            copy = machine.copier(target, source, stream)
            copy()
            stream.synchronize()
            took = time_while_held(machine, stream, copy, held)
            yield _record(machine, memory, direction, size, took=took, held=held)


def time_while_held(machine: Machine, stream: Stream, call: Call, held: float) -> float:
    """Seconds that a call takes while its stream is shut for so many."""
    hold = Hold(machine, stream)
    hold.close()
    timer = threading.Timer(held, hold.open)
    timer.start()
    start = machine.clock()
    try:
        call()
        return (machine.clock() - start) * 1e-9
    finally:
        timer.join()
        stream.synchronize()


def _record(
    machine: Machine,
    memory: Memory,
    direction: Direction,
    size: int,
    *,
    took: float | None = None,
    held: float | None = None,
    reason: str = "",
) -> Asynchrony:
    title = SCENARIOS[memory].label(simulated=machine.simulated)
    return Asynchrony(
        simulated=machine.simulated, unavailable=reason, memory=title, direction=direction,
        call="memcpy given to a worker thread" if machine.simulated else "cudaMemcpyAsync",
        bytes=size, took=took, held=held, verdict=_verdict(took, held),
    )  # fmt: skip


Verdict = Literal["", "returns at once", "waits for the stream"]


def _verdict(took: float | None, held: float | None) -> Verdict:
    if took is None or held is None:
        return ""
    return "waits for the stream" if took > _WAITED * held else "returns at once"
