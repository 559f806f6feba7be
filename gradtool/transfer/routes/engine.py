"""The calls that users make: ``Tensor.to`` and ``pin_memory``.

They allocate their results; the runtime's calls copy into existing memory. The same routes serve
the bundled engine and PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.results.transfer import Cell
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.machines.machine import Memory
from gradtool.transfer.measuring.operation import (
    Operation,
    Pair,
    Route,
    Slot,
    Slots,
    Workspace,
    parts_of,
    slot_count,
    slot_of,
)
from gradtool.transfer.routes.libraries import Engine, Library, Torch

Step = Callable[[Any], Any]
Tensors = Callable[[int], list[Any]]
"""The tensors of a slot."""

GetLibrary = Callable[[Workspace], Library]


def _engine(_workspace: Workspace) -> Library:
    return Engine()


def tensor_to(memory: Memory, get_library: GetLibrary = _engine) -> Route:
    """``tensor.to(device)`` for tensors in a kind of host memory, or ``tensor.to("cpu")``."""

    def route(cell: Cell, workspace: Workspace) -> Operation:
        library = get_library(workspace)
        if cell.direction == "d2h":
            tensors = _device_tensors(cell, workspace, library)
            return _route(cell, workspace, library, tensors, _sender("cpu", cell, workspace))
        tensors = _host_tensors(cell, workspace, library, memory)
        return _route(
            cell, workspace, library, tensors, _sender(workspace.machine.place, cell, workspace)
        )

    return route


def torch_to(memory: Memory) -> Route:
    """The same by PyTorch."""
    return tensor_to(memory, Torch)


def pin_memory(cell: Cell, workspace: Workspace) -> Operation:
    """``tensor.pin_memory()`` alone."""
    _require_pinning(workspace)
    library = Engine()
    tensors = _host_tensors(cell, workspace, library, "pageable")
    return _route(cell, workspace, library, tensors, lambda tensor: tensor.pin_memory())


def pin_memory_then_to(cell: Cell, workspace: Workspace) -> Operation:
    """``tensor.pin_memory().to(device)``."""
    _require_pinning(workspace)
    library = Engine()
    send = _sender(workspace.machine.place, cell, workspace)
    tensors = _host_tensors(cell, workspace, library, "pageable")
    return _route(cell, workspace, library, tensors, lambda tensor: send(tensor.pin_memory()))


def _require_pinning(workspace: Workspace) -> None:
    if workspace.machine.on_host:
        raise UnavailableError("without CUDA, Tensor.pin_memory returns the tensor unchanged")


def _sender(place: str, cell: Cell, workspace: Workspace) -> Step:
    if workspace.machine.on_host:
        return lambda tensor: tensor.to("cpu", copy=True)
    non_blocking = cell.mode == "non_blocking"
    return lambda tensor: tensor.to(place, non_blocking=non_blocking)


def _host_tensors(
    cell: Cell, workspace: Workspace, library: Library, memory: Memory
) -> tuple[int, Tensors]:
    """The number of slots, and the tensors over each slot of the host's buffer."""
    if memory == "pinned":
        _require_pinning(workspace)
    buffer = workspace.host(memory, cell)

    def tensors(number: int) -> list[Any]:
        slot = slot_of(buffer, cell.total, number)
        return [library.over(part) for part in parts_of(slot, cell)]

    return slot_count(cell.total, workspace.rotation), tensors


def _device_tensors(cell: Cell, workspace: Workspace, library: Library) -> tuple[int, Tensors]:
    """A single set of tensors of the device, which have memory of their own."""
    place = workspace.machine.place
    return 1, lambda _only: [library.on_device(size, place) for size in cell.sizes]


def _route(
    cell: Cell, workspace: Workspace, library: Library, given: tuple[int, Tensors], step: Step
) -> Operation:
    count, tensors = given

    def enter(_runs: int) -> None:
        library.enter(workspace)

    return Operation(
        Slots(count, lambda number: _slot(library, tensors(number), step)),
        prepare=enter,
        finish=library.leave,
        close=library.leave,
        cache_hot=count * cell.total < workspace.rotation and cell.direction == "h2d",
        marked=not workspace.machine.on_host,
    )


def _slot(library: Library, tensors: list[Any], step: Step) -> Slot:
    made: list[Any] = []

    def issue() -> None:
        made[:] = [step(tensor) for tensor in tensors]

    pairs = [
        Pair(library.memory(tensor), lambda place=place: library.memory(made[place]), spoil=False)  # type: ignore[misc]
        for place, tensor in enumerate(tensors)
    ]
    return Slot(issue, pairs)
