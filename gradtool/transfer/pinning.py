"""What page-locked memory costs to get, to touch and to give back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradtool.measure.clock import Clock
from gradtool.measure.summary import summarize
from gradtool.results.transfer import PinningCost
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.machine import HostBlock, Machine, Memory
from gradtool.transfer.pages import touch
from gradtool.transfer.scenarios import SCENARIOS

SIZES = (1 << 20, 16 << 20, 64 << 20)
SAMPLES = 5

Costs = tuple[float, float, float]
"""Seconds to lock, to touch, to release."""


def measure_all(machine: Machine, largest: int, samples: int = SAMPLES) -> Iterator[PinningCost]:
    """Allocating and registering, for sizes up to the largest."""
    for memory, once in (("pinned", _allocate), ("registered", _register)):
        title = SCENARIOS[memory].label(simulated=machine.simulated)
        for size in (each for each in SIZES if each <= largest):
            yield _measured(machine, title, size, once, samples)


def _measured(
    machine: Machine, title: str, size: int, once: Callable[[Machine, int], Costs], samples: int
) -> PinningCost:
    try:
        once(machine, min(size, 1 << 20))  # what the first call alone costs is not counted
        found = [once(machine, size) for _ in range(samples)]
    except (UnavailableError, MemoryError, RuntimeError) as error:
        return PinningCost(
            simulated=machine.simulated, memory=title, bytes=size, unavailable=str(error)
        )
    lock, touched, release = (summarize(times) for times in zip(*found, strict=True))
    return PinningCost(
        simulated=machine.simulated, memory=title, bytes=size, lock=lock, touch=touched,
        release=release,
    )  # fmt: skip


def _allocate(machine: Machine, size: int) -> Costs:
    blocks: list[HostBlock] = []
    memory: Memory = "pinned"
    lock = _seconds(machine.clock, lambda: blocks.append(machine.host(memory, size)))
    touched = _seconds(machine.clock, lambda: touch(blocks[0].array))
    return lock, touched, _seconds(machine.clock, blocks.pop().close)


def _register(machine: Machine, size: int) -> Costs:
    """Memory whose pages were touched before, so that this is not counted as locking."""
    block = machine.host("pageable", size)
    try:
        touched = _seconds(machine.clock, lambda: touch(block.array))
        unlock: list[Callable[[], Any]] = []
        lock = _seconds(machine.clock, lambda: unlock.append(machine.lock(block.array)))
        return lock, touched, _seconds(machine.clock, unlock.pop())
    finally:
        block.close()


def _seconds(clock: Clock, call: Callable[[], Any]) -> float:
    start = clock()
    call()
    return (clock() - start) * 1e-9
