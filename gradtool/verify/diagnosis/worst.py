"""The entry of a comparison that shows best what is wrong with it, as evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradtool.results.report import Evidence, LadderCurve, scalar
from gradtool.verify.comparison.derivatives import Comparison
from gradtool.verify.diagnosis.block import block_around
from gradtool.verify.protocol.coordinates import Block, BoolArray, FloatArray

__all__ = ["Worst", "evidence", "find_worst", "place_of_column", "place_of_row", "scalar"]


@dataclass(frozen=True)
class Worst:
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


@dataclass(frozen=True)
class Entry:
    """The entry to show: the worst that was compared, or the one that was located.

    What is None is not an entry of an array, but a random product of entries.
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


def evidence(comparison: Comparison, worst: Worst, name: str) -> Evidence:
    """The numbers at the worst entry; `name` is the argument's."""
    entry = entry_of(comparison, worst)
    return Evidence(
        argument=name,
        output=entry.output,
        input_index=entry.input_index,
        output_index=entry.output_index,
        analytic=scalar(entry.analytic),
        numeric=scalar(entry.numeric),
        error=scalar(entry.error),
        difference=scalar(abs(entry.analytic - entry.numeric)),
        tolerance=scalar(entry.allowed),
        wrong=worst.wrong,
        compared=worst.compared,
        jacobian=block_around(comparison, worst.row, worst.column),
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
    """How many times its tolerance each entry is off; what is not finite is the worst."""
    with np.errstate(all="ignore"):
        off = np.abs(comparison.analytic - comparison.numeric.value) / comparison.allowed
    return np.where(np.isfinite(comparison.analytic), np.nan_to_num(off, nan=0.0), np.inf)
