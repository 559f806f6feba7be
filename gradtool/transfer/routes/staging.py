"""Staging through two page-locked buffers in turn: one is sent while the other is filled.

Several threads share the host's part of it, the filling.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from gradtool.device.protocol import Event, Stream
from gradtool.results.transfer import Cell
from gradtool.transfer.machines.machine import Buffer, HostBlock, Machine
from gradtool.transfer.measuring.operation import (
    Operation,
    Pair,
    Slot,
    Slots,
    Workspace,
    slot_count,
    slot_of,
)

CHUNK = 4 << 20
"""Bytes of a buffer."""

_BUFFERS = 2
_MOST_THREADS = 4

HostCopy = Callable[[Buffer, Buffer], Any]


def thread_count() -> int:
    """Threads that share a copy: as many as this process has processors, up to four."""
    usable = getattr(os, "sched_getaffinity", None)
    cores = len(usable(0)) if usable else os.cpu_count() or 1
    return min(_MOST_THREADS, cores)


def staged(cell: Cell, workspace: Workspace) -> Operation:
    """The route with one thread."""
    return _route(cell, workspace, np.copyto, lambda: None)


def staged_by_threads(cell: Cell, workspace: Workspace) -> Operation:
    """The route with several threads."""
    pool = ThreadPoolExecutor(thread_count(), "gradtool-staging")
    return _route(cell, workspace, striped(pool, thread_count()), pool.shutdown)


def _route(cell: Cell, workspace: Workspace, copy: HostCopy, close: Callable[[], Any]) -> Operation:
    try:
        stager = Stager(
            workspace.machine, workspace.stream, min(CHUNK, cell.total), copy,
            blocking=cell.mode == "blocking",
        )  # fmt: skip
    except BaseException:
        close()
        raise
    move = stager.send if cell.direction == "h2d" else stager.fetch
    count = slot_count(cell.total, workspace.rotation)
    near, far = workspace.host("pageable", cell), workspace.device(cell)

    def make(number: int) -> Slot:
        ends = [slot_of(buffer, cell.total, number) for buffer in (near, far)]
        source, target = ends if cell.direction == "h2d" else reversed(ends)
        return _slot(move, source, target)

    def close_all() -> None:
        stager.close()
        close()

    hot = count * cell.total < workspace.rotation
    return Operation(Slots(count, make), close=close_all, cache_hot=hot)


def _slot(move: HostCopy, source: Buffer, target: Buffer) -> Slot:
    return Slot(lambda: move(source, target), [Pair(source, lambda: target)])


def striped(pool: ThreadPoolExecutor, threads: int) -> HostCopy:
    """Make a host copy in equal stripes, one for each thread."""

    def copy(target: Buffer, source: Buffer) -> None:
        step = max(4096, -(-len(source) // threads))
        stripes = [slice(start, start + step) for start in range(0, len(source), step)]
        jobs = [pool.submit(np.copyto, target[each], source[each]) for each in stripes]
        for job in jobs:
            job.result()

    return copy


class Stager:
    """The buffers, each with the event after which it is free."""

    def __init__(
        self, machine: Machine, stream: Stream, chunk: int, copy: HostCopy, *, blocking: bool
    ) -> None:
        self._machine, self._stream = machine, stream
        self._chunk, self._copy, self._blocking = chunk, copy, blocking
        self._blocks: list[HostBlock] = []
        try:
            for _ in range(_BUFFERS):
                self._blocks.append(self._machine.host("pinned", chunk))
        except BaseException:
            self.close()
            raise
        self._done: list[Event | None] = [None] * _BUFFERS

    def send(self, source: Buffer, target: Buffer) -> None:
        """Copy from pageable memory to the device."""
        for number, start in enumerate(range(0, len(source), self._chunk)):
            piece = slice(start, start + self._chunk)
            turn = number % _BUFFERS
            staging = self._free(turn)[: len(source[piece])]
            self._copy(staging, source[piece])
            self._machine.copier(target[piece], staging, self._stream)()
            self._mark(turn)
        if self._blocking:
            self._stream.synchronize()

    def fetch(self, source: Buffer, target: Buffer) -> None:
        """Copy from the device to pageable memory; a piece is copied out while the next arrives."""
        waiting: tuple[int, slice] | None = None
        for number, start in enumerate(range(0, len(source), self._chunk)):
            piece = slice(start, start + self._chunk)
            turn = number % _BUFFERS
            staging = self._blocks[turn].array[: len(source[piece])]
            self._machine.copier(staging, source[piece], self._stream)()
            self._mark(turn)
            if waiting is not None:
                self._copy_out(*waiting, target)
            waiting = turn, piece
        if waiting is not None:
            self._copy_out(*waiting, target)

    def _copy_out(self, turn: int, piece: slice, target: Buffer) -> None:
        part = target[piece]
        self._copy(part, self._free(turn)[: len(part)])

    def _free(self, turn: int) -> Buffer:
        """Wait until no copy uses a buffer, and return it."""
        event = self._done[turn]
        if event is not None:
            event.synchronize()
        return self._blocks[turn].array

    def _mark(self, turn: int) -> None:
        event = self._done[turn] or self._machine.event()
        event.record(self._stream)
        self._done[turn] = event

    def close(self) -> None:
        """Release the buffers."""
        self._stream.synchronize()
        while self._blocks:
            self._blocks.pop().close()
