"""How a CUDA device's memory is used.

CuPy's pool holds the memory of arrays that are gone, for the next ones. It keeps no peaks:
they are counted from the first call of a function that asks for one, in this thread.
"""

from __future__ import annotations

from typing import Any

from gradtool.device import CUDA
from gradtool.device.peaks import peaks
from gradtool.engine.cuda._devices import index_of

OutOfMemoryError = MemoryError
"""What CuPy's own error is a kind of, so that ``except torch.cuda.OutOfMemoryError`` catches it."""


def memory_allocated(device: Any = None) -> int:
    """Bytes in arrays that are alive."""
    return CUDA.memory(index_of(device)).allocated


def memory_reserved(device: Any = None) -> int:
    """Bytes that the pool holds, in arrays or for the next ones."""
    return CUDA.memory(index_of(device)).reserved


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes in arrays since peaks are counted, or were reset."""
    return peaks().allocated(index_of(device))


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes held by the pool since peaks are counted, or were reset."""
    return peaks().reserved(index_of(device))


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let the peaks of a device start anew from what it holds now."""
    peaks().reset(index_of(device))


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes of the device, as the driver says."""
    figures = CUDA.memory(index_of(device))
    return figures.free, figures.total


def empty_cache() -> None:
    """Give back memory that is held for the next arrays. Without CUDA, nothing."""
    if CUDA.count():
        CUDA.release_unused()
