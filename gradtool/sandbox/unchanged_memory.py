"""See in memory that dicts and cells are as they were, without a touch of what they hold.

CPython numbers the states of each dict (PEP 509): a dict whose number stands still was not written
to. To compare the objects in it instead counts references to each, which copies every page of
memory that a worker shares with the fork server.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterable, Mapping
from types import CellType
from typing import Any

import numpy as np

_POINTER = ctypes.sizeof(ctypes.c_void_p)
_HEADER = 2 * _POINTER
"""Size of a reference count and the pointer to a type, with which each object begins."""

IS_READABLE = (
    sys.implementation.name == "cpython"
    and sys.version_info < (3, 13)  # From there on, attributes may be set without a new number.
    and _POINTER == 8
)
"""The layout in memory is known, of this version of Python."""


class Memory:
    """Numbers in memory that change whenever some dicts or cells are written to."""

    def __init__(self, names: Iterable[Mapping[Any, object]], cells: Iterable[CellType]) -> None:
        after_size = _HEADER + _POINTER  # The number of entries comes first.
        self.versions = _reader([id(_dict_within(each)) + after_size for each in names])
        """Return a number for each dict: the same as before only if nobody wrote to it since."""
        self.contents = _reader([id(each) + _HEADER for each in cells])
        """Return the address of what each cell holds."""


def _reader(addresses: list[int]) -> Callable[[], bytes]:
    """Return a function that reads the numbers at these addresses, 8 bytes each.

    One array spans all of them and what lies between, of which nothing else is read. An object for
    each would be slower, and its count of references on a page of its own.
    """
    first = min(addresses, default=0)
    places = np.array([(each - first) // _POINTER for each in addresses], dtype=np.intp)
    if not addresses:
        return places.tobytes
    span = ctypes.c_uint64 * (int(places.max()) + 1)
    memory = np.frombuffer(memoryview(span.from_address(first)), dtype=np.uint64)
    memory.flags.writeable = False
    take = memory.take  # A method of a class that cannot be changed.
    return lambda: take(places).tobytes()


def _dict_within(names: Mapping[Any, object]) -> object:
    """Return the dict that a class's read-only view of its attributes shows."""
    return names if type(names) is dict else gc.get_referents(names)[0]
