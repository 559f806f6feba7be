"""The entry of a comparison that shows a mistake best, and the part of the Jacobian around it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from gradtool.results.report import Evidence, JacobianBlock, LadderCurve, scalar
from gradtool.verify.comparison.derivatives import Comparison
from gradtool.verify.protocol.coordinates import Block, BoolArray, FloatArray
from gradtool.verify.thresholds.diagnosis import BLOCK_DIGITS, BLOCK_FEW_DIGITS, BLOCK_SIZE

__all__ = ["Worst", "evidence", "find_worst", "place_of_column", "place_of_row", "scalar"]


class Worst(msgspec.Struct, frozen=True):
    """The worst of the entries with one decision, and how many others have it.

    `wrong` and `compared` count entries of the argument, or random directions. `outputs` are
    the positions of the outputs concerned; none where rows are functionals of all outputs.
    """

    row: int
    column: int
    wrong: int
    compared: int
    outputs: tuple[int, ...]


def find_worst(comparison: Comparison, chosen: BoolArray) -> Worst:
    """The worst of the `chosen` entries, of which there must be one."""
    badness = np.where(chosen, _badness(comparison), -1.0)
    row, column = np.unravel_index(np.argmax(badness), chosen.shape)
    entries = np.asarray(chosen.any(axis=0))
    if comparison.layout.directions[comparison.argument] is None:
        entries = _primal(comparison).entries(entries)
    return Worst(
        row=int(row),
        column=int(column),
        wrong=int(entries.sum()),
        compared=entries.size,
        outputs=_outputs(comparison, np.asarray(chosen.any(axis=1))),
    )


class Entry(msgspec.Struct, frozen=True):
    """The entry to show: the worst that was compared, or the one that was located.

    An index of None belongs to a random product of entries, not to an entry of an array.
    """

    output: int | None
    output_index: tuple[int, ...] | None
    input_index: tuple[int, ...] | None
    analytic: float
    numeric: float
    error: float
    allowed: float


def entry_of(comparison: Comparison, worst: Worst) -> Entry:
    """The entry to show of a comparison."""
    found = comparison.located
    if found:
        output, output_index = _place_in_outputs(comparison, found.row)
        index = _primal(comparison).index(found.column)
        sides = found.analytic, found.numeric, found.error, found.allowed
        return Entry(output, output_index, index, *sides)
    at = worst.row, worst.column
    numeric = comparison.numeric
    sides = comparison.analytic[at], numeric.value[at], numeric.error[at], comparison.allowed[at]
    output_place = place_of_row(comparison, worst.row)
    return Entry(*output_place, place_of_column(comparison, worst.column), *map(float, sides))


def evidence(comparison: Comparison, worst: Worst, name: str, rows: Sequence[str] = ()) -> Evidence:
    """The numbers at the worst entry.

    Args:
        comparison: The derivatives.
        worst: The worst entry.
        name: Name of the argument.
        rows: Inputs whose gradients are differentiated; by default, outputs are.
    """
    entry = entry_of(comparison, worst)
    return Evidence(
        argument=name,
        output=entry.output,
        gradient_of=rows[entry.output] if rows and entry.output is not None else None,
        input_index=entry.input_index,
        output_index=entry.output_index,
        analytic=scalar(entry.analytic),
        numeric=scalar(entry.numeric),
        error=scalar(entry.error),
        difference=scalar(abs(entry.analytic - entry.numeric)),
        tolerance=scalar(entry.allowed),
        wrong=worst.wrong,
        compared=worst.compared,
        jacobian=block_around(comparison, worst.row, worst.column, rows),
        ladder=_curve(comparison, worst),
    )


def _curve(comparison: Comparison, worst: Worst) -> LadderCurve | None:
    """The quotients of the worst entry; those of a direction say nothing of a located entry."""
    if comparison.curve is None or comparison.located is not None:
        return None
    return comparison.curve(worst.row, worst.column)


def place_of_row(comparison: Comparison, row: int) -> tuple[int | None, tuple[int, ...] | None]:
    """The output of a row and the index in it; None where the row is a functional of all."""
    if comparison.layout.functionals is not None:
        return None, None
    return _place_in_outputs(comparison, row)


def _place_in_outputs(comparison: Comparison, row: int) -> tuple[int, tuple[int, ...]]:
    for output, block in enumerate(comparison.layout.outputs.blocks):
        if block.start <= row < block.stop:
            return output, block.index(row - block.start)
    raise IndexError(row)


def place_of_column(comparison: Comparison, column: int) -> tuple[int, ...] | None:
    """The index in the argument of a column; None where the column is a direction."""
    if comparison.layout.directions[comparison.argument] is not None:
        return None
    return _primal(comparison).index(column)


def _primal(comparison: Comparison) -> Block:
    return comparison.layout.inputs[comparison.argument].blocks[0]


def _outputs(comparison: Comparison, rows: BoolArray) -> tuple[int, ...]:
    if comparison.located:
        return (_place_in_outputs(comparison, comparison.located.row)[0],)
    if comparison.layout.functionals is not None:
        return ()
    blocks = comparison.layout.outputs.blocks
    return tuple(i for i, block in enumerate(blocks) if rows[block.span].any())


def _badness(comparison: Comparison) -> FloatArray:
    """Return the error of each entry in units of its tolerance; infinite where it is not finite."""
    with np.errstate(all="ignore"):
        off = np.abs(comparison.analytic - comparison.numeric.value) / comparison.allowed
    # NaN on the numeric side is no error of the gradient, and must not win over a real one.
    return np.where(np.isfinite(comparison.analytic), np.nan_to_num(off, nan=0.0), np.inf)


def block_around(
    comparison: Comparison, row: int, column: int, gradients: Sequence[str] = ()
) -> JacobianBlock:
    """At most `BLOCK_SIZE` by `BLOCK_SIZE` entries around one, with both sides of the comparison.

    Where the Jacobian is small enough all of it is kept. Wrong are the entries with the same
    decision as the one in the middle. Rows are entries of outputs, or of the `gradients` of these
    inputs.
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
        row_labels=tuple(
            _row_label(comparison, r, gradients) for r in range(rows.start, rows.stop)
        ),
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
    # Adding zero turns a negative zero, which reports would show as -0, into a positive one.
    return scalar(float(f"{value:.{digits}g}") + 0.0)


def _as_flags(mask: NDArray[np.bool_]) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(bool(flag) for flag in row) for row in mask)


def _row_label(comparison: Comparison, row: int, gradients: Sequence[str]) -> str:
    """The output or gradient and the index in it, or the number of the random functional."""
    layout = comparison.layout
    if layout.functionals is not None:
        return f"functional {row}"
    for output, block in enumerate(layout.outputs.blocks):
        if block.start <= row < block.stop:
            name = f"grad {gradients[output]}" if gradients else f"output {output}"
            return f"{name}{_place(block, row - block.start)}"
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
