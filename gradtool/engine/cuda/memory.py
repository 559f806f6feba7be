"""Memory use of a CUDA device.

CuPy's pool keeps the memory of deleted arrays for the next ones. It records no peaks: they are
counted from the first call of a function that returns one, in this thread.
"""

from __future__ import annotations

from typing import Any

from gradtool.device import CUDA
from gradtool.device.peaks import peaks
from gradtool.engine.cuda._devices import index_of

OutOfMemoryError = MemoryError
"""Base of CuPy's own error, so that ``except torch.cuda.OutOfMemoryError`` catches it."""


def memory_allocated(device: Any = None) -> int:
    """Return the bytes in live arrays."""
    return CUDA.memory(index_of(device)).allocated


def memory_reserved(device: Any = None) -> int:
    """Return the bytes in the pool, in arrays or free."""
    return CUDA.memory(index_of(device)).reserved


def max_memory_allocated(device: Any = None) -> int:
    """Return the peak of `memory_allocated` since counting began, or since the last reset."""
    return peaks().allocated(index_of(device))


def max_memory_reserved(device: Any = None) -> int:
    """Return the peak of `memory_reserved` since counting began, or since the last reset."""
    return peaks().reserved(index_of(device))


def reset_peak_memory_stats(device: Any = None) -> None:
    """Reset the peaks of a device to its current use."""
    peaks().reset(index_of(device))


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return free and total bytes of the device, as the driver reports them."""
    figures = CUDA.memory(index_of(device))
    return figures.free, figures.total


def empty_cache() -> None:
    """Release the pool's free memory. Without CUDA, do nothing."""
    if CUDA.count():
        CUDA.release_unused()
