"""Sparse matrices that come as several arguments: values, rows, columns and a shape.

They are known by their names, which say the same everywhere: no single one of them can be changed
without the others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

_ROWS = re.compile(r"(?P<before>.*_)?rows?(?P<after>_.*)?")
_VALUES = ("val", "vals", "value", "values", "data", "edata", "coeffs", "entries")
_SHAPES = ("shape", "size", "sparse_shape", "mat_shape", "matrix_shape")
_SIDES = ("b", "B", "rhs", "rhs_batch", "b_batch")
"""Names of the right side of a system of equations."""

_SIZE = 3
_ROW, _COLUMN = [0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 2, 0]
"""A pattern that is not symmetric, and whose matrix is regular for any positive entries."""

Shapes = Mapping[str, Sequence[int]]


def sparse_arguments(
    names: Sequence[str], shapes: Shapes, matrices: Collection[str] = ()
) -> dict[str, Any]:
    """The values of the arguments that make up sparse matrices, and of a right side beside them.

    Args:
        names: The names of all arguments.
        shapes: Shapes as far as they are known; of several dimensions, the last one holds entries.
        matrices: The right sides that have columns.
    """
    found: dict[str, Any] = {}
    for name in names:
        found |= _matrix(name, names, shapes)
    if found:
        for name in names:
            if name in _SIDES:
                columns = [_SIZE + 1] if name in matrices else []
                found[name] = {"shape": [*_batch(shapes.get(name, ())), _SIZE, *columns]}
    return found


def _matrix(name: str, names: Sequence[str], shapes: Shapes) -> dict[str, Any]:
    """The arguments of the matrix whose rows have a name; none if its values are not given."""
    match = _ROWS.fullmatch(name)
    before, after = (match["before"] or "", match["after"] or "") if match else ("", "")
    column = next((each for each in names if each in _columns(name)), None)
    values = next((each for each in names if _is_one(each, _VALUES, before, after)), None)
    if match is None or column is None or values is None:
        return {}
    extents = [*_batch(shapes.get(values, ())), len(_ROW)]
    found: dict[str, Any] = {
        values: {"shape": extents, "low": 0.5, "high": 1.5},
        name: {"values": _ROW},
        column: {"values": _COLUMN},
    }
    shape = next((each for each in names if _is_one(each, _SHAPES, before, after)), None)
    return found | ({} if shape is None else {shape: [_SIZE, _SIZE]})


def _columns(row: str) -> tuple[str, str]:
    return row.replace("row", "col"), row.replace("row", "column")


def _is_one(name: str, words: Sequence[str], before: str, after: str) -> bool:
    """Return True for one of some names, alone or with what surrounds that of the rows."""
    own = [f"{before}{word}{after}" for word in words]
    return name in own or (not before + after and name in [f"{each}_batch" for each in words])


def _batch(shape: Sequence[int]) -> Sequence[int]:
    return shape[:-1]
