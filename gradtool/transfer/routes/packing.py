"""Many tensors gathered in one page-locked buffer, sent by one copy or one by one.

`packed` gathers all of them and sends once. `pinned_by_threads` lets several threads gather and
sends each group as soon as it is gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from gradtool.results.transfer import Cell
from gradtool.transfer.machines.machine import Buffer
from gradtool.transfer.measuring.operation import (
    Operation,
    Pair,
    Slot,
    Slots,
    Workspace,
    parts_of,
    slot_count,
    slot_of,
)
from gradtool.transfer.routes.staging import thread_count

_GROUPS_PER_THREAD = 4


def packed(cell: Cell, workspace: Workspace) -> Operation:
    """Gather, send once; or fetch once, scatter."""
    return _route(cell, workspace, _packing, lambda: None)


def pinned_by_threads(cell: Cell, workspace: Workspace) -> Operation:
    """Threads gather while the main thread sends."""
    pool = ThreadPoolExecutor(thread_count(), "gradtool-pinning")
    try:
        return _route(
            cell, workspace, lambda *places: _gathering_by_threads(pool, *places), pool.shutdown
        )
    except BaseException:
        pool.shutdown()
        raise


def _route(cell: Cell, workspace: Workspace, make: Callable[..., Any], close: Any) -> Operation:
    gathered = workspace.host("pinned", cell)[: cell.total]
    count = slot_count(cell.total, workspace.rotation)
    near, far = workspace.host("pageable", cell), workspace.device(cell)

    def make_slot(number: int) -> Slot:
        mine, theirs = (slot_of(buffer, cell.total, number) for buffer in (near, far))
        source, target = (mine, theirs) if cell.direction == "h2d" else (theirs, mine)
        return Slot(make(cell, workspace, mine, gathered, theirs), [Pair(source, lambda: target)])

    hot = count * cell.total < workspace.rotation
    return Operation(Slots(count, make_slot), close=close, cache_hot=hot)


def _packing(
    cell: Cell, workspace: Workspace, near: Buffer, gathered: Buffer, far: Buffer
) -> Callable[[], None]:
    tensors, places = parts_of(near, cell), parts_of(gathered, cell)
    wait = workspace.stream.synchronize
    send = workspace.machine.copier(far, gathered, workspace.stream)
    fetch = workspace.machine.copier(gathered, far, workspace.stream)

    def there() -> None:
        wait()  # The copy before this one may still read the buffer.
        for place, tensor in zip(places, tensors, strict=True):
            np.copyto(place, tensor)
        send()
        if cell.mode == "blocking":
            wait()

    def back() -> None:
        fetch()
        wait()
        for place, tensor in zip(places, tensors, strict=True):
            np.copyto(tensor, place)

    return there if cell.direction == "h2d" else back


def _gathering_by_threads(
    pool: ThreadPoolExecutor,
    cell: Cell,
    workspace: Workspace,
    near: Buffer,
    gathered: Buffer,
    far: Buffer,
) -> Callable[[], None]:
    tensors, places = parts_of(near, cell), parts_of(gathered, cell)
    targets = parts_of(far, cell)
    sends = [
        workspace.machine.copier(to, of, workspace.stream)
        for to, of in zip(targets, places, strict=True)
    ]
    groups = _groups(cell.tensors, thread_count() * _GROUPS_PER_THREAD)
    wait = workspace.stream.synchronize

    def gather(group: range) -> None:
        for each in group:
            np.copyto(places[each], tensors[each])

    def issue() -> None:
        wait()  # The last copies may still read the buffer.
        jobs = [(group, pool.submit(gather, group)) for group in groups]
        for group, job in jobs:
            job.result()
            for each in group:
                sends[each]()
        if cell.mode == "blocking":
            wait()

    return issue


def _groups(count: int, most: int) -> Sequence[range]:
    step = max(1, -(-count // most))
    return [range(start, min(start + step, count)) for start in range(0, count, step)]
