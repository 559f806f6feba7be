"""Page-locked host memory: allocated as such, registered afterwards, or taken from CuPy's pool.

It is allocated by `hostAlloc` directly: CuPy's pool rounds sizes up and keeps what is freed,
which would hide the cost of pinning.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from gradtool.device import CUDA, array_module
from gradtool.measure.units import size_text
from gradtool.transfer.errors import UnavailableError
from gradtool.transfer.machines.machine import Buffer, Call, HostBlock


def _runtime() -> Any:
    return array_module("cuda").cuda.runtime


def allocate_pinned(size: int, *, write_combined: bool = False) -> HostBlock:
    """Allocate page-locked memory.

    Raises:
        UnavailableError: The driver refused it.
    """
    runtime = _runtime()
    flags = runtime.hostAllocPortable
    if write_combined:
        flags |= runtime.hostAllocWriteCombined
    try:
        pointer = runtime.hostAlloc(size, flags)
    except RuntimeError as error:
        raise _refused(size, error) from error
    memory: Any = (ctypes.c_uint8 * size).from_address(pointer)
    free = functools.partial(runtime.freeHost, pointer)
    return HostBlock(np.frombuffer(memory, np.uint8), free)


def register(array: Buffer) -> Call:
    """Page-lock the memory of an array; return the call that unlocks it, which keeps the array.

    Raises:
        UnavailableError: The driver refused it.
    """
    try:
        _runtime().hostRegister(array.ctypes.data, array.nbytes, 0)
    except RuntimeError as error:
        reason = f"{size_text(array.nbytes)} could not be registered: {_first_line(error)}"
        raise UnavailableError(reason) from error
    return functools.partial(_unregister, array)


def _unregister(array: Buffer) -> None:
    _runtime().hostUnregister(array.ctypes.data)


def pinned_from_pool(size: int) -> HostBlock:
    """Take page-locked memory from CuPy's pool; it goes back with the last array that uses it.

    Raises:
        UnavailableError: The driver refused it.
    """
    try:
        return HostBlock(CUDA.empty_pinned((size,), np.uint8), lambda: None)
    except RuntimeError as error:
        raise _refused(size, error) from error


def _refused(size: int, error: RuntimeError) -> UnavailableError:
    return UnavailableError(
        f"cannot allocate {size_text(size)} of page-locked memory: {_first_line(error)}"
    )


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
