"""After how many copies page-locked memory has paid for itself.

k = (lock + touch + release) / (time of a pageable copy - time of a pinned copy), of the same
size. Where the pinned copy is not certainly faster, never.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from gradtool.measure.bootstrap import ratio
from gradtool.results.transfer import Cell, PinningCost

SIMULATED = "n/a: locked pages are no faster to copy where there is no device"


def with_reuses(costs: Sequence[PinningCost], cells: Sequence[Cell]) -> tuple[PinningCost, ...]:
    """The costs, each with the number of copies to the device that it takes to pay."""
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
    """The blocking copy to the device: what a program that waits for its data sees."""
    wanted = f"{scenario}.h2d.blocking[{size}]"
    return next((cell for cell in cells if cell.id == wanted and not cell.row), None)
