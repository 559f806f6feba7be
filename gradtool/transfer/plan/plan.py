"""The cells of a run, as far as they fit into memory."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import msgspec

from gradtool.measure.units import about, size_text
from gradtool.results.transfer import Cell, Direction
from gradtool.spelling import plural
from gradtool.transfer.errors import TransferError, reason_of
from gradtool.transfer.machines.machine import Machine
from gradtool.transfer.plan.options import SIZES, RowOptions, TransferOptions
from gradtool.transfer.plan.scenarios import SCENARIOS, Scenario

DIRECTIONS: tuple[str, ...] = get_args(Direction)


def plan(options: TransferOptions, machine: Machine) -> list[Cell]:
    """The cells that the options select, without numbers yet.

    Raises:
        TransferError: They name something that does not exist, or select nothing.
    """
    chosen = chosen_scenarios(options.scenarios, on_host=machine.on_host)
    directions = _directions(options.directions)
    cells = [cell for scenario in chosen for cell in _cells(scenario, directions, options, machine)]
    cells += [_row(row, machine) for row in options.rows]
    if not cells and not options.collections and all(each.collections_only for each in chosen):
        many = f"{chosen[0].name} copies many tensors at once: omit --size"
        raise TransferError(f"nothing to measure: {many}")
    if not cells and not options.probes:
        raise TransferError(
            "nothing to measure: no scenario copies in that direction; --list shows the scenarios"
        )
    return cells


COMPARED_FIRST = ("pageable", "pinned")
"""Scenarios that a short run measures at all sizes before the others."""


def cells_in_turn(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Cells in the order of a first pass, in turns of cells that are compared with one another.

    A turn has one size, both modes and all directions. The first one has every scenario, so that
    a run whose time is up has something of each; pageable and pinned memory come before the rest.
    """
    turns: dict[tuple[bool, int], list[Cell]] = {}
    shapes: dict[tuple[str, str, str], int] = {}
    for cell in cells:
        way = cell.scenario, cell.direction, cell.mode
        shape = shapes[way] = shapes.get(way, 0) + 1
        later = shape > 1 and cell.scenario not in COMPARED_FIRST and not cell.row
        turns.setdefault((later, shape), []).append(cell)
    return [turns[turn] for turn in sorted(turns)]


def chosen_scenarios(patterns: Sequence[str], *, on_host: bool = False) -> list[Scenario]:
    """The scenarios that match a pattern; without one, those that are measured by default.

    Raises:
        TransferError: A pattern matches none.
    """
    if not patterns:
        return [each for each in SCENARIOS.values() if not (on_host and each.only_when_named)]
    names: list[str] = []
    for pattern in patterns:
        found = fnmatch.filter(SCENARIOS, pattern)
        if not found:
            raise TransferError(f"no scenario matches {pattern!r}{_near(pattern, SCENARIOS)}")
        names += found
    return [scenario for name, scenario in SCENARIOS.items() if name in names]


def _near(word: str, known: Sequence[str] | dict[str, Scenario]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else "; --list shows them all"


def _directions(wanted: Sequence[str]) -> tuple[str, ...]:
    for direction in wanted:
        if direction not in DIRECTIONS:
            known = ", ".join(DIRECTIONS)
            raise TransferError(f"unknown direction {direction!r} (known: {known})")
    return tuple(wanted) or DIRECTIONS


def _cells(
    scenario: Scenario, directions: Sequence[str], options: TransferOptions, machine: Machine
) -> Iterator[Cell]:
    """A scenario's cells in the grid: all sizes of one buffer, and the collections."""
    sizes = SIZES if options.sizes is None else options.sizes
    shapes = [] if scenario.collections_only else [(1, size) for size in sizes]
    if not scenario.single_only:
        shapes += options.collections
    for direction, modes in scenario.ways.items():
        for mode in modes if direction in directions else ():
            for tensors, size in shapes:
                yield Cell(
                    scenario=scenario.name, label=scenario.label(on_host=machine.on_host),
                    direction=direction, mode=mode, tensors=tensors, bytes=size,
                    simulated=machine.simulated, host_only=scenario.host_only,
                )  # fmt: skip


def _row(row: RowOptions, machine: Machine) -> Cell:
    """The cell of a row of a configuration."""
    scenario = SCENARIOS.get(row.scenario)
    if scenario is None:
        near = _near(row.scenario, SCENARIOS)
        raise TransferError(f"row {row.name!r}: unknown scenario {row.scenario!r}{near}")
    if row.mode not in scenario.ways.get(row.direction, ()):
        raise TransferError(
            f"row {row.name!r}: {row.scenario} has no {row.mode} mode for {row.direction}"
        )
    if scenario.single_only and row.tensors > 1:
        raise TransferError(f"row {row.name!r}: {row.scenario} moves one tensor at a time")
    return Cell(
        scenario=scenario.name, label=scenario.label(on_host=machine.on_host), row=row.name,
        direction=row.direction, mode=row.mode, tensors=row.tensors, bytes=row.bytes,
        parts=row.parts,
        published=row.published, simulated=machine.simulated, host_only=scenario.host_only,
    )  # fmt: skip


SHARE = 0.5
"""Share of free memory that a run may take."""

HOST_BUFFERS = 8
"""Buffers of the largest size that live on the host at a time: three kinds, a second pinned one,
new memory for a copy, what is pinned on the fly, and what the engine and PyTorch make."""

DEVICE_BUFFERS = 3

MOST_ROTATION = 256 << 20
"""Limit of the bytes that copies go round, for hosts with a very large cache."""


@dataclass(frozen=True)
class MemoryBudget:
    """The largest operation that fits into memory."""

    largest: int
    free: int

    def refusal(self, size: int) -> str:
        """The message that `size` bytes do not fit."""
        return (
            f"{size_text(size)} does not fit: with {about(self.free)} of memory free, a run can "
            f"use buffers of up to {about(self.largest)}"
        )


def memory_budget(machine: Machine) -> MemoryBudget:
    """The largest operation on a machine, by the memory that is free now.

    Raises:
        TransferError: The device does not answer.
    """
    try:
        host, device = machine.free_memory()
    except RuntimeError as error:
        raise TransferError(f"{machine.device_name} cannot be used: {reason_of(error)}") from error
    if machine.on_host:
        return MemoryBudget(int(SHARE * host / (HOST_BUFFERS + DEVICE_BUFFERS)), host)
    by_host, by_device = SHARE * host / HOST_BUFFERS, SHARE * device / DEVICE_BUFFERS
    return MemoryBudget(int(min(by_host, by_device)), host if by_host < by_device else device)


def fitted(
    cells: Sequence[Cell], space: MemoryBudget, *, sizes_given: bool
) -> tuple[list[Cell], list[str]]:
    """The cells that fit, with fewer tensors where many do not, and notices about the others.

    Args:
        cells: The cells.
        space: The memory for them.
        sizes_given: The user named the sizes, so that one that does not fit is refused.

    Raises:
        TransferError: A single buffer of a size that was named does not fit.
    """
    kept, notices, too_large = [], [], set()
    for cell in cells:
        if cell.total <= space.largest:
            kept.append(cell)
            continue
        fewer = space.largest // cell.bytes
        if cell.tensors == 1 or fewer < 1:
            if sizes_given or cell.row:
                raise TransferError(space.refusal(cell.bytes))
            too_large.add(cell.bytes)
            continue
        kept.append(msgspec.structs.replace(cell, tensors=fewer, published=None))
        notices.append(
            f"{cell.row or cell.id}: {plural(fewer, 'tensor')} instead of {cell.tensors}: "
            f"{space.refusal(cell.total)}"
        )
    if too_large:
        left_out = ", ".join(map(size_text, sorted(too_large)))
        notices.append(f"sizes left out: {left_out}: {space.refusal(min(too_large))}")
    return kept, notices
