"""Moving arrays between host memory and CUDA devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.device.arrays import array_module
from gradtool.device.cuda import CUDA, CudaEvent, CudaStream

_in_flight: list[tuple[CudaEvent, Any]] = []
"""Arrays that work under way still needs, each with the event that ends it.

CuPy keeps none of them, and would hand their memory out again while the work goes on.
"""


def made_on(kind: str, index: int | None, make: Callable[[Any], Any]) -> Any:
    """``make(array module)``, with the CUDA device of that index as the current one.

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
        CUDA.require(index)  # says why, if it is for want of a device
        raise


def moved_to(kind: str, index: int | None, array: Any, *, non_blocking: bool = False) -> Any:
    """The elements of an array on a device; the array itself if it lies there already.

    With `non_blocking` a copy from a device, or from page-locked memory to one, may go on after
    the call returns. One from a device then lands in page-locked memory, as in torch: do not
    read it before the stream, or an event after the copy, has been waited for.

    Raises:
        DeviceUnavailableError: there is no such device.
    """
    on_host = isinstance(array, np.ndarray)
    if kind == "cpu":
        return array if on_host else to_host(array, non_blocking=non_blocking)
    if on_host:
        return made_on(kind, index, lambda module: module.asarray(array, blocking=not non_blocking))
    if index is None or index == array.device.id:
        return array
    # A copy of CuPy's lands on the current device.
    return made_on(kind, index, lambda _module: array.copy())


def to_host(array: Any, *, non_blocking: bool = False) -> Any:
    """The elements of a CUDA array in host memory."""
    if not non_blocking or not array.size:
        return array.get(order="A")
    with CUDA.select(array.device.id):
        target = CUDA.empty_pinned(array.shape, array.dtype)
        array.get(out=target, blocking=False)
        keep_until_done(target, CUDA.current_stream())
    return target


def keep_until_done(array: Any, stream: CudaStream) -> None:
    """Hold on to an array until the work that a stream has been given so far is done."""
    ended = CUDA.event(timing=False)
    ended.record(stream)
    _in_flight[:] = [entry for entry in _in_flight if not entry[0].query()]
    _in_flight.append((ended, array))


def pinned(array: Any) -> Any:
    """A copy in page-locked host memory; the array itself if it lies there, or without CUDA.

    Without CUDA there is nothing that page-locked memory would be faster to copy to.

    Raises:
        RuntimeError: the array lies on a CUDA device.
    """
    if not isinstance(array, np.ndarray):
        raise RuntimeError("cannot pin 'torch.cuda' tensors, only dense CPU tensors can be pinned")
    if not CUDA.count() or CUDA.is_pinned(array):
        return array
    copy = CUDA.empty_pinned(array.shape, array.dtype)
    copy[...] = array
    return copy
