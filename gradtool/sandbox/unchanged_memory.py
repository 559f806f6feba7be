"""See in memory that dicts and cells are as they were, without a touch of what they hold.

CPython numbers the states of each dict (PEP 509): a dict whose number stands still was not written
to. To compare the objects in it instead counts references to each, which copies every page of
memory that a worker shares with the fork server.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterable, Mapping
from types import CellType
from typing import Any

_POINTER = ctypes.sizeof(ctypes.c_void_p)
_HEADER = 2 * _POINTER
"""Size of a reference count and the pointer to a type, with which each object begins."""

IS_READABLE = (
    sys.implementation.name == "cpython"
    and sys.version_info < (3, 13)  # From there on, attributes may be set without a new number.
    and _POINTER == 8
)
"""The layout in memory is known, of this version of Python."""

# The getter itself: the attribute of ctypes' classes can be replaced.
_value: Any = ctypes._SimpleCData.__dict__["value"].__get__
_map, _tuple = map, tuple


class Memory:
    """Numbers in memory that change whenever some dicts or cells are written to."""

    def __init__(self, names: Iterable[Mapping[Any, object]], cells: Iterable[CellType]) -> None:
        dicts = map(_dict_within, names)
        after_size = _HEADER + _POINTER  # The number of entries comes first.
        versions = [ctypes.c_uint64.from_address(id(each) + after_size) for each in dicts]
        contents = [ctypes.c_uint64.from_address(id(each) + _HEADER) for each in cells]
        self._numbers = _tuple(versions), _tuple(contents)

    def versions(self) -> tuple[int, ...]:
        """Return a number for each dict: the same as before only if nobody wrote to it since."""
        return _tuple(_map(_value, self._numbers[0]))

    def contents(self) -> tuple[int, ...]:
        """Return the address of what each cell holds."""
        return _tuple(_map(_value, self._numbers[1]))


def _dict_within(names: Mapping[Any, object]) -> object:
    """Return the dict that a class's read-only view of its attributes shows."""
    return names if type(names) is dict else gc.get_referents(names)[0]
