"""The part of a Jacobian around its worst entry, for people to look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradtool.results.report import JacobianBlock, scalar
from gradtool.verify.comparison.derivatives import Comparison
from gradtool.verify.protocol.coordinates import Block, FloatArray
from gradtool.verify.thresholds.diagnosis import BLOCK_DIGITS, BLOCK_FEW_DIGITS, BLOCK_SIZE


def block_around(comparison: Comparison, row: int, column: int) -> JacobianBlock:
    """At most `BLOCK_SIZE` by `BLOCK_SIZE` entries around one, with both sides of the comparison.

    Where the Jacobian is small enough all of it is kept. Wrong are the entries with the same
    decision as the one in the middle.
    """
    rows, columns = (
        _window(at, size) for at, size in zip((row, column), comparison.analytic.shape, strict=True)
    )
    part = rows, columns
    analytic, numeric = comparison.analytic[part], comparison.numeric.value[part]
    with np.errstate(all="ignore"):
        difference = analytic - numeric
    return JacobianBlock(
        first_row=rows.start,
        first_column=columns.start,
        rows=comparison.analytic.shape[0],
        columns=comparison.analytic.shape[1],
        row_labels=tuple(_row_label(comparison, r) for r in range(rows.start, rows.stop)),
        column_labels=tuple(
            _column_label(comparison, c) for c in range(columns.start, columns.stop)
        ),
        worst=(row - rows.start, column - columns.start),
        analytic=_rounded(analytic, BLOCK_DIGITS),
        numeric=_rounded(numeric, BLOCK_DIGITS),
        difference=_rounded(difference, BLOCK_FEW_DIGITS),
        error=_rounded(comparison.numeric.error[part], BLOCK_FEW_DIGITS),
        wrong=_as_flags(comparison.decision[part] == comparison.decision[row, column]),
    )


def _window(at: int, size: int) -> slice:
    """Up to `BLOCK_SIZE` places around `at`, as many of them as there are."""
    first = max(min(at - BLOCK_SIZE // 2, size - BLOCK_SIZE), 0)
    return slice(first, min(first + BLOCK_SIZE, size))


def _rounded(values: FloatArray, digits: int) -> tuple[tuple[float | str, ...], ...]:
    return tuple(tuple(_short(float(value), digits) for value in row) for row in values)


def _short(value: float, digits: int) -> float | str:
    return scalar(float(f"{value:.{digits}g}") + 0.0)


def _as_flags(mask: NDArray[np.bool_]) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(bool(flag) for flag in row) for row in mask)


def _row_label(comparison: Comparison, row: int) -> str:
    """The output and the index in it, or the number of the random functional."""
    layout = comparison.layout
    if layout.functionals is not None:
        return f"functional {row}"
    for output, block in enumerate(layout.outputs.blocks):
        if block.start <= row < block.stop:
            return f"{output}{_place(block, row - block.start)}"
    raise IndexError(row)


def _column_label(comparison: Comparison, column: int) -> str:
    if comparison.layout.directions[comparison.argument] is not None:
        return f"direction {column}"
    return _place(comparison.layout.inputs[comparison.argument].blocks[0], column)


def _place(block: Block, coordinate: int) -> str:
    """``[1, 2]``, and which part of a complex number."""
    index = block.index(coordinate)
    text = f"[{', '.join(map(str, index))}]" if index else ""
    return f"{text}.{('re', 'im')[coordinate % 2]}" if block.is_complex else text
