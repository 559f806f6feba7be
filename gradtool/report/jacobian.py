"""The entries of a Jacobian around its worst one, as text that any renderer can set in a table."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gradtool.results.evidence import Scalar
from gradtool.results.report import JacobianBlock

_FEWEST_DIGITS = 4
_MOST_DIGITS = 10


class Cell(msgspec.Struct, frozen=True):
    """One entry, in as many digits as it takes to see that a wrong value is wrong."""

    analytic: str
    numeric: str
    is_wrong: bool
    is_worst: bool


class Window(msgspec.Struct, frozen=True):
    """A part of a Jacobian: a label for each row and column, and a cell for each pair."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    reference: str
    """``exact`` or ``numeric``: the kind of value that the worst entry is compared with."""
    extent: str
    """``5 x 3 of the 12 x 12 Jacobian``; nothing where the window is all there is."""


def window(block: JacobianBlock, *, rows: int, columns: int) -> Window:
    """At most `rows` by `columns` entries of `block` around the worst one.

    Every row has a wrong entry in one of the columns, so that each shows part of the mistake.
    Their order is that of the Jacobian.
    """
    down, across = _chosen(block, rows, columns)
    digits = _digits(block, down, across)
    return Window(
        rows=tuple(block.row_labels[i] for i in down),
        columns=tuple(block.column_labels[j] for j in across),
        cells=tuple(tuple(_cell(block, i, j, digits) for j in across) for i in down),
        reference=reference(block),
        extent=_extent(block, len(down), len(across)),
    )


def reference(block: JacobianBlock) -> str:
    """``exact`` or ``numeric``: the kind of value that the worst entry is compared with."""
    row, column = block.worst
    return "exact" if block.error[row][column] == 0 else "numeric"


def _extent(block: JacobianBlock, rows: int, columns: int) -> str:
    if (rows, columns) == (block.rows, block.columns):
        return ""
    return f"{rows} x {columns} of the {block.rows} x {block.columns} Jacobian"


def _chosen(block: JacobianBlock, rows: int, columns: int) -> tuple[list[int], list[int]]:
    """Rows and columns: those of wrong entries near the worst, then neighbouring columns."""
    row, column = block.worst
    down, across = {row}, {column}
    for i, j in _wrong_entries(block):
        if len(down | {i}) <= rows and len(across | {j}) <= columns:
            down.add(i)
            across.add(j)
    every = range(len(block.column_labels))
    spare = sorted(set(every) - across, key=lambda j: (not block.wrong[row][j], abs(j - column)))
    return sorted(down), sorted([*across, *spare[: columns - len(across)]])


def _wrong_entries(block: JacobianBlock) -> list[tuple[int, int]]:
    """The wrong entries: those in the column of the worst, in its row, and then the nearest."""
    row, column = block.worst
    wrong = [(i, j) for i, flags in enumerate(block.wrong) for j, flag in enumerate(flags) if flag]
    return sorted(wrong, key=lambda at: (at[1] != column, at[0] != row, _distance(at, block.worst)))


def _distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _cell(block: JacobianBlock, i: int, j: int, digits: int) -> Cell:
    return Cell(
        analytic=short(block.analytic[i][j], digits),
        numeric=short(block.numeric[i][j], digits),
        is_wrong=block.wrong[i][j],
        is_worst=(i, j) == block.worst,
    )


def _digits(block: JacobianBlock, down: Sequence[int], across: Sequence[int]) -> int:
    """The fewest digits in which no wrong entry looks right."""
    pairs = [
        (block.analytic[i][j], block.numeric[i][j])
        for i in down
        for j in across
        if block.wrong[i][j] and block.analytic[i][j] != block.numeric[i][j]
    ]
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        if all(short(one, digits) != short(other, digits) for one, other in pairs):
            return digits
    return _MOST_DIGITS


def short(value: Scalar, digits: int = _FEWEST_DIGITS) -> str:
    """A value in few digits; what is not known as a question mark."""
    if isinstance(value, str):
        return "?" if value == "nan" else value
    return f"{value + 0.0:.{digits}g}"
