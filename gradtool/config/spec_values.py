"""Nested lists of numbers in a configuration, looked at without NumPy.

Whoever reads a configuration need not compute, and NumPy is half of what it would then load.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

_MOST_DIMENSIONS = 64
"""NumPy's."""

_OVERFLOWS = {
    "float16": 2.0**16 - 2.0**4,
    "float32": 2.0**128 - 2.0**103,
    "float64": math.inf,
    "complex64": 2.0**128 - 2.0**103,
    "complex128": math.inf,
}
"""The least number that a floating dtype rounds to infinity: half a step beyond its largest."""


class ValuesError(ValueError):
    """The lists are no array of numbers."""


def numbers(values: Any) -> list[float]:
    """The entries of nested lists, in their order; a number alone is one.

    Raises:
        ValuesError: Rows differ in length, or something is no number that an array takes.
    """
    entries = _entries(values)
    if not all(isinstance(entry, int | float) for entry in entries):
        raise ValuesError("'values' must hold numbers only")
    if not all(isinstance(entry, float) or fits(entry, "int64") for entry in entries):
        raise ValuesError("'values' hold a whole number beyond int64")
    return entries


def _entries(values: Any) -> list[Any]:
    level = [values]
    for _ in range(_MOST_DIMENSIONS + 1):
        lengths = {len(each) if isinstance(each, list) else None for each in level}
        if lengths <= {None}:
            return level
        if len(lengths) > 1:
            raise ValuesError("'values' must be a list of rows of equal length")
        level = [inner for each in level for inner in each]
    raise ValuesError(f"'values' have more than {_MOST_DIMENSIONS} dimensions")


def kind(entries: Iterable[float]) -> str:
    """NumPy's letter for the narrowest kind that holds them all: ``b``, ``i`` or ``f``."""
    kinds = {type(entry) for entry in entries}
    if not kinds or float in kinds:
        return "f"
    return "b" if kinds == {bool} else "i"


def fits(entry: float, dtype: str) -> bool:
    """Whether `dtype` holds the number: a floating one rounded, any other as it is."""
    if dtype in _OVERFLOWS:
        return not _OVERFLOWS[dtype] <= abs(entry) < math.inf
    least, most = bounds(dtype)
    return least <= entry <= most and entry == math.floor(entry)


def bounds(dtype: str) -> tuple[int, int]:
    """The least and the greatest number of an integer or boolean dtype."""
    if dtype == "bool":
        return 0, 1
    bits = int(dtype.lstrip("uint"))
    return (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
