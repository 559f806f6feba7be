"""Transfers of arrays between host memory and CUDA devices."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.device.arrays import array_module
from gradtool.device.cuda import CUDA, CudaEvent, CudaStream, address

_in_flight: dict[int, deque[tuple[CudaEvent, Any]]] = {}
"""Arrays in use by unfinished work, each with the event at its end, in the order of each stream.

CuPy does not keep them alive, and would reuse their memory during the work.
"""


def made_on(kind: str, index: int | None, make: Callable[[Any], Any]) -> Any:
    """Return ``make(array module)``, with the CUDA device of that index as the current one.

    Raises:
        DeviceUnavailableError: there is no such device.
    """
    if kind == "cpu":
        return make(np)
    module = array_module(kind)
    try:
        with CUDA.select(index):
            return make(module)
    except RuntimeError:
        CUDA.require(index)  # raises with the reason, if the device is missing
        raise


def moved_to(kind: str, index: int | None, array: Any, *, non_blocking: bool = False) -> Any:
    """Return an array moved to a device; the array itself if it is there already.

    With `non_blocking` a copy from a device, or from page-locked memory to one, may continue after
    the call returns. A copy from a device then goes to page-locked memory, as in torch: wait for
    the stream, or for an event after the copy, before reading it.

    Raises:
        DeviceUnavailableError: there is no such device.
    """
    on_host = isinstance(array, np.ndarray)
    if kind == "cpu":
        return array if on_host else to_host(array, non_blocking=non_blocking)
    if on_host:
        return made_on(kind, index, lambda module: _sent(module, array, non_blocking))
    if index is None or index == array.device.id:
        return array
    # CuPy copies to the current device.
    return made_on(kind, index, lambda _module: array.copy())


def _sent(module: Any, array: Any, non_blocking: bool) -> Any:
    """Copy a host array to the current device.

    The driver stages pageable memory itself. CuPy's `asarray` would first copy it to page-locked
    memory of its own, which takes longer than the transfer of a small array.
    """
    if not array.flags.c_contiguous or not array.size:
        return module.asarray(array, blocking=not non_blocking)
    target = module.empty(array.shape, array.dtype)
    stream, runtime = module.cuda.get_current_stream(), module.cuda.runtime
    runtime.memcpyAsync(
        target.data.ptr, address(array), array.nbytes, runtime.memcpyHostToDevice, stream.ptr
    )
    if not non_blocking:
        stream.synchronize()
    elif CUDA.is_pinned(array):
        keep_until_done(array, CudaStream(stream))
    return target


def to_host(array: Any, *, non_blocking: bool = False) -> Any:
    """Copy a CUDA array to host memory."""
    if not non_blocking or not array.size:
        # CuPy's default would turn a Fortran layout into C's.
        return array.get(order="A")
    with CUDA.select(array.device.id):
        _release_done()  # Before allocating: the pool may then reuse their memory.
        target = CUDA.empty_pinned(array.shape, array.dtype)
        array.get(out=target, blocking=False)
        keep_until_done(target, CUDA.current_stream())
    return target


def keep_until_done(array: Any, stream: CudaStream) -> None:
    """Keep an array alive until the current work of a stream is finished."""
    ended = CUDA.event(timing=False)
    ended.record(stream)
    _release_done()
    _in_flight.setdefault(stream.ptr, deque()).append((ended, array))


def _release_done() -> None:
    """Let go of the arrays whose work is finished; a stream finishes its work in order."""
    for entries in _in_flight.values():
        while entries and entries[0][0].query():
            entries.popleft()


def pinned(array: Any) -> Any:
    """Return a copy in page-locked host memory; the array itself if it is there, or without CUDA.

    Without CUDA, page-locked memory speeds up nothing.

    Raises:
        RuntimeError: the array is on a CUDA device.
    """
    if not isinstance(array, np.ndarray):
        raise RuntimeError("cannot pin 'torch.cuda' tensors, only dense CPU tensors can be pinned")
    if not CUDA.count() or CUDA.is_pinned(array):
        return array
    copy = CUDA.empty_pinned(array.shape, array.dtype)
    copy[...] = array
    return copy
