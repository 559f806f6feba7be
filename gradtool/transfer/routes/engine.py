"""The bundled engine's own calls, beside the raw ones: ``Tensor.to`` and ``pin_memory``.

They allocate what they return, as PyTorch's do; the raw calls copy into memory that is there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from gradtool.transfer.buffers import parts_of, slot_count, slot_of
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.machine import Memory
from gradtool.transfer.operation import Bench, Operation, Pair, Route, Slot, Slots
from gradtool.transfer_results import Cell

Step = Callable[[Any], Any]
Tensors = Callable[[int], list[Any]]
"""The tensors of a slot."""


def tensor_to(memory: Memory) -> Route:
    """``tensor.to(device)`` for tensors in a kind of host memory, or ``tensor.to("cpu")``."""

    def route(cell: Cell, bench: Bench) -> Operation:
        if cell.direction == "d2h":
            return _route(cell, bench, _device_tensors(cell, bench), _sender("cpu", cell, bench))
        tensors = _host_tensors(cell, bench, memory)
        return _route(cell, bench, tensors, _sender(bench.machine.place, cell, bench))

    return route


def pin_memory(cell: Cell, bench: Bench) -> Operation:
    """``tensor.pin_memory()`` alone."""
    _require_pinning(bench)
    return _route(
        cell, bench, _host_tensors(cell, bench, "pageable"), lambda tensor: tensor.pin_memory()
    )


def pin_memory_then_to(cell: Cell, bench: Bench) -> Operation:
    """``tensor.pin_memory().to(device)``."""
    _require_pinning(bench)
    send = _sender(bench.machine.place, cell, bench)
    tensors = _host_tensors(cell, bench, "pageable")
    return _route(cell, bench, tensors, lambda tensor: send(tensor.pin_memory()))


def _require_pinning(bench: Bench) -> None:
    if bench.machine.simulated:
        raise UnavailableError("Tensor.pin_memory needs CUDA: without it, it returns the tensor")


def _sender(place: str, cell: Cell, bench: Bench) -> Step:
    if bench.machine.simulated:
        return lambda tensor: tensor.to("cpu", copy=True)
    non_blocking = cell.mode == "non_blocking"
    return lambda tensor: tensor.to(place, non_blocking=non_blocking)


def _host_tensors(cell: Cell, bench: Bench, memory: Memory) -> tuple[int, Tensors]:
    """How many slots there are, and tensors over each of the host's buffer."""
    engine: Any = importlib.import_module("gradtool.engine")
    if memory == "pinned":
        _require_pinning(bench)
    buffer = bench.buffers.host(memory)

    def tensors(number: int) -> list[Any]:
        slot = slot_of(buffer, cell.total, number)
        return [engine.from_numpy(part) for part in parts_of(slot, cell.tensors)]

    return slot_count(cell.total, bench.rotation), tensors


def _device_tensors(cell: Cell, bench: Bench) -> tuple[int, Tensors]:
    """Tensors of the device, one set: they have memory of their own."""
    engine: Any = importlib.import_module("gradtool.engine")
    options: dict[str, Any] = {"dtype": engine.uint8, "device": bench.machine.place}
    return 1, lambda _only: [engine.empty(cell.bytes, **options) for _ in range(cell.tensors)]


def _route(cell: Cell, bench: Bench, given: tuple[int, Tensors], step: Step) -> Operation:
    count, tensors = given
    hot = count * cell.total < bench.rotation and cell.direction == "h2d"
    return Operation(Slots(count, lambda number: _slot(tensors(number), step)), cache_hot=hot)


def _slot(tensors: list[Any], step: Step) -> Slot:
    made: list[Any] = []

    def issue() -> None:
        made[:] = [step(tensor) for tensor in tensors]

    pairs = [
        Pair(tensor._array, lambda place=place: made[place]._array, spoil=False)  # type: ignore[misc]
        for place, tensor in enumerate(tensors)
    ]
    return Slot(issue, pairs)
