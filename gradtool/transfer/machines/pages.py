"""Memory directly from the system: an allocator would reuse pages that were touched before."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from gradtool.measure.units import size_text
from gradtool.transfer.errors import UnavailableError

PAGE = mmap.PAGESIZE


def fresh_pages(size: int) -> Any:
    """An array of bytes in pages that were never touched.

    Raises:
        UnavailableError: The system refuses, as it does above the limit of a process.
    """
    try:
        return np.frombuffer(mmap.mmap(-1, size), np.uint8)
    except OSError as error:
        reason = f"cannot allocate {size_text(size)} of memory: {error.strerror}"
        raise UnavailableError(reason) from error


def touch(array: Any) -> None:
    """Write to each page once."""
    array[::PAGE] = 1
