"""Whether what is asked for fits into memory, before anything is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from gradtool.measure.units import about, size_text
from gradtool.results.transfer import Cell
from gradtool.transfer.errors import TransferError
from gradtool.transfer.machine import Machine

SHARE = 0.5
"""The part of free memory that a run may take."""

HOST_BUFFERS = 8
"""Buffers of the largest size that live on the host at a time: three kinds, a second pinned one,
new memory for a copy, what is pinned on the fly, and what the engine and PyTorch make."""

DEVICE_BUFFERS = 3

MOST_ROTATION = 512 << 20
"""Bytes that copies go round at most, where the host's cache is very large."""


@dataclass(frozen=True)
class Room:
    """How large an operation may be."""

    largest: int
    free: int

    def refusal(self, size: int) -> str:
        """Why so many bytes do not fit."""
        return (
            f"{size_text(size)} does not fit: with {about(self.free)} of memory free, a run can "
            f"use buffers of up to {about(self.largest)}"
        )


def room(machine: Machine) -> Room:
    """How large an operation may be on a machine, by the memory that is free now."""
    host, device = machine.free_memory()
    if machine.simulated:
        return Room(int(SHARE * host / (HOST_BUFFERS + DEVICE_BUFFERS)), host)
    by_host, by_device = SHARE * host / HOST_BUFFERS, SHARE * device / DEVICE_BUFFERS
    return Room(int(min(by_host, by_device)), host if by_host < by_device else device)


def fitted(cells: Sequence[Cell], space: Room) -> tuple[list[Cell], list[str]]:
    """The cells, with fewer tensors where many do not fit, and what to tell of that.

    Raises:
        TransferError: one buffer that was asked for does not fit.
    """
    kept, notices = [], []
    for cell in cells:
        if cell.total <= space.largest:
            kept.append(cell)
            continue
        fewer = space.largest // cell.bytes
        if cell.tensors == 1 or fewer < 1:
            raise TransferError(space.refusal(cell.bytes))
        kept.append(msgspec.structs.replace(cell, tensors=fewer, published=None))
        notices.append(
            f"{cell.row or cell.id}: {fewer} tensors in place of {cell.tensors}: "
            f"{space.refusal(cell.total)}"
        )
    return kept, notices
