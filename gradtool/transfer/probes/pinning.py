"""Cost of page-locked memory: to lock, to touch and to release it, and the copies that repay it.

Reuses k = (lock + touch + release) / (time of a pageable copy - time of a pinned copy), of the
same size; never, where the pinned copy is not certainly faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from gradtool.measure.bootstrap import ratio
from gradtool.measure.clock import Clock
from gradtool.measure.summary import summarize
from gradtool.results.transfer import Cell, PinningCost
from gradtool.transfer.errors import reason_of
from gradtool.transfer.machines.machine import HostBlock, Machine, Memory
from gradtool.transfer.machines.pages import touch
from gradtool.transfer.plan.scenarios import SCENARIOS

SIZES = (1 << 20, 16 << 20, 64 << 20)
SAMPLES = 5

Costs = tuple[float, float, float]
"""Seconds to lock, to touch, to release."""


def measure_all(machine: Machine, largest: int, samples: int = SAMPLES) -> Iterator[PinningCost]:
    """Measure allocating and registering, for sizes up to the largest."""
    for memory, once in (("pinned", _allocate), ("registered", _register)):
        title = SCENARIOS[memory].label(on_host=machine.on_host)
        for size in (each for each in SIZES if each <= largest):
            yield _measured(machine, title, size, once, samples)


def _measured(
    machine: Machine, title: str, size: int, once: Callable[[Machine, int], Costs], samples: int
) -> PinningCost:
    try:
        once(machine, min(size, 1 << 20))  # The extra cost of the first call does not count.
        found = [once(machine, size) for _ in range(samples)]
    except Exception as error:  # CUDA and CuPy raise errors of many kinds
        return PinningCost(
            simulated=machine.simulated, memory=title, bytes=size, unavailable=reason_of(error)
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
    """Register memory whose pages were touched before, so that this does not count as locking."""
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


SIMULATED = "n/a: without a device, locked pages are no faster to copy"


def with_reuses(costs: Sequence[PinningCost], cells: Sequence[Cell]) -> tuple[PinningCost, ...]:
    """The costs, each with the number of copies to the device that repay it."""
    return tuple(_with_reuses(cost, cells) for cost in costs)


def _with_reuses(cost: PinningCost, cells: Sequence[Cell]) -> PinningCost:
    if cost.unavailable or not (cost.lock and cost.touch and cost.release):
        return cost
    if cost.simulated:
        return replace(cost, reuses_reason=SIMULATED)
    pageable, pinned = (_copy(cells, name, cost.bytes) for name in ("pageable", "pinned"))
    if pageable is None or pinned is None or not (pageable.done and pinned.done):
        return replace(cost, reuses_reason="the copies of this size were not measured")
    if ratio(pinned.samples, pageable.samples).verdict != "faster":
        return replace(cost, reuses_reason="never: a pinned copy is not faster")
    total = cost.lock.median + cost.touch.median + cost.release.median
    return replace(cost, reuses=total / (pageable.done.median - pinned.done.median))


def _copy(cells: Sequence[Cell], scenario: str, size: int) -> Cell | None:
    """The blocking copy to the device, as a program makes it that waits for its data."""
    wanted = f"{scenario}.h2d.blocking[{size}]"
    return next((cell for cell in cells if cell.id == wanted and not cell.row), None)
