"""Pageable host memory that is new for every operation, and so in no cache.

For copies to the device the new memory has been written, like data that a program has just made.
For copies from the device it is untouched, like memory allocated for a result: its pages are first
touched by the copy.
"""

from __future__ import annotations

from gradtool.results.transfer import Cell
from gradtool.transfer.machines.machine import Buffer, HostBlock
from gradtool.transfer.measuring.operation import (
    Operation,
    Pair,
    Slot,
    Workspace,
    slot_count,
    slot_of,
)

_MOST_BYTES = 256 << 20
"""New memory for one sample at most, unless one operation takes more."""

_MOST_RUNS = 64
"""Operations in one sample at most."""


def cold(cell: Cell, workspace: Workspace) -> Operation:
    """The route."""
    blocks: list[HostBlock] = []
    fitting = min(_MOST_BYTES // cell.total, slot_count(cell.total, workspace.rotation))
    most = max(1, min(fitting, _MOST_RUNS))
    device = workspace.device(cell)
    far = [slot_of(device, cell.total, each) for each in range(most)]
    workspace.machine.host("pageable", 1).close()  # Refused here rather than in the first sample.

    def renew(count: int) -> None:
        drop()
        blocks.extend(workspace.machine.host("pageable", cell.total) for _ in range(count))
        operation.slots = [_slot(cell, workspace, *ends) for ends in zip(blocks, far, strict=False)]

    def drop() -> None:
        workspace.machine.synchronize()
        operation.slots = []
        while blocks:
            blocks.pop().close()

    operation = Operation([], prepare=renew, close=drop, most=most)
    return operation


def _slot(cell: Cell, workspace: Workspace, block: HostBlock, far: Buffer) -> Slot:
    near = block.array
    if cell.direction == "h2d":
        near.fill(1)
        copy = workspace.machine.copier(far, near, workspace.stream)
        pair = Pair(near, lambda: far)
    else:
        copy = workspace.machine.copier(near, far, workspace.stream)
        pair = Pair(far, lambda: near, spoil=False)
    if cell.mode == "non_blocking":
        return Slot(copy, [pair])

    def and_wait() -> None:
        copy()
        workspace.stream.synchronize()

    return Slot(and_wait, [pair])
