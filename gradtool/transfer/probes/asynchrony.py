"""Asynchrony of a call: does it return before the copy is done, while its stream is held?

The documentation of CUDA leaves open when a copy of pageable memory returns, so the answer is
measured on the driver that is there: for the runtime's call, and for the engine's ``Tensor.to``.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gradtool.device.protocol import Stream
from gradtool.results.transfer import Asynchrony, Direction
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.machines.machine import Buffer, Call, HostBlock, Machine, Memory
from gradtool.transfer.plan.scenarios import SCENARIOS
from gradtool.transfer.probes.held_stream import Hold
from gradtool.transfer.routes.libraries import Engine

SIZES = (4 << 10, 64 << 10, (64 << 10) + 1, 1 << 20, 64 << 20)
"""CUDA documents that up to 64 KiB are handled differently."""

HELD = 0.05
"""Seconds for which the stream is held."""

_WAITED = 0.8
"""Share of that time in which a call that waited cannot have returned."""

MEMORIES: tuple[Memory, ...] = ("pageable", "pinned")
DIRECTIONS: tuple[Direction, ...] = ("h2d", "d2h")

ENGINE_CALL = "Tensor.to(non_blocking=True)"

NO_STREAMS = "n/a: without a device there is no stream to hold"


@dataclass(frozen=True)
class _Place:
    """The ends of a copy, and its stream."""

    machine: Machine
    stream: Stream
    host: Buffer
    device: Buffer


def probe_all(machine: Machine, largest: int, held: float = HELD) -> Iterator[Asynchrony]:
    """Probe both calls, for both kinds of memory, both directions and sizes up to the largest."""
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
    place = _Place(machine, machine.stream(), block.array, machine.device(max(sizes)))
    for direction in DIRECTIONS:
        for size in sizes:
            took = _seconds(place, _raw_copy(place, direction, size), held)
            yield _record(machine, memory, direction, size, took=took, held=held)
    if machine.on_host:
        yield _record(machine, memory, "h2d", 0, call=ENGINE_CALL, reason=NO_STREAMS)
        return
    engine = Engine()
    for direction in DIRECTIONS if memory == "pageable" else DIRECTIONS[:1]:
        for size in sizes:
            took = _seconds(place, _engine_copy(engine, place, direction, size), held)
            yield _record(
                machine, memory, direction, size, call=ENGINE_CALL, took=took, held=held
            )  # fmt: skip


def _raw_copy(place: _Place, direction: Direction, size: int) -> Call:
    ends = place.device[:size], place.host[:size]
    target, source = ends if direction == "h2d" else ends[::-1]
    return place.machine.copier(target, source, place.stream)


def _engine_copy(engine: Engine, place: _Place, direction: Direction, size: int) -> Call:
    """A copy by the engine, which allocates a page-locked target for copies to the host."""
    if direction == "h2d":
        tensor, to = engine.over(place.host[:size]), place.machine.place
    else:
        tensor, to = engine.on_device(size, place.machine.place), "cpu"
    return functools.partial(tensor.to, to, non_blocking=True)


def _seconds(place: _Place, copy: Call, held: float) -> float:
    """Seconds of a call on a held stream, after one that does the allocations."""
    with place.machine.current(place.stream):
        copy()
        place.stream.synchronize()
        return time_while_held(place.machine, place.stream, copy, held)


def time_while_held(machine: Machine, stream: Stream, call: Call, held: float) -> float:
    """Seconds that a call takes while its stream is held for `held` seconds."""
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
    call: str = "",
    took: float | None = None,
    held: float | None = None,
    reason: str = "",
) -> Asynchrony:
    title = SCENARIOS[memory].label(on_host=machine.on_host)
    raw = "memcpy given to a worker thread" if machine.on_host else "cudaMemcpyAsync"
    return Asynchrony(
        simulated=machine.simulated, unavailable=reason, memory=title, direction=direction,
        call=call or raw, bytes=size, took=took, held=held, verdict=_verdict(took, held),
    )  # fmt: skip


Verdict = Literal["", "returns at once", "waits for the stream"]


def _verdict(took: float | None, held: float | None) -> Verdict:
    if took is None or held is None:
        return ""
    return "waits for the stream" if took > _WAITED * held else "returns at once"
