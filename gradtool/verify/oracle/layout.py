"""The rows and columns of a Jacobian that are compared: all of them, or random products.

Up to a budget every coordinate of the outputs is a row and every coordinate of an input a column.
Beyond it a few random functionals of the outputs stand for the rows, and a few random directions
for the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradtool.verify.oracle.steps import scales
from gradtool.verify.protocol.coordinates import BoolArray, Coordinates, FloatArray
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import Directions, Functionals, generator
from gradtool.verify.thresholds.effort import (
    MOST_COLUMNS,
    MOST_ROWS,
    MOST_ROWS_BY_DIRECTIONS,
    PROJECTIONS,
    QUICK_PROJECTIONS,
)


@dataclass(frozen=True)
class Layout:
    """The rows and columns of the Jacobians of one function.

    `graphed` says which outputs are connected to an input that asks for a gradient; the others
    are claimed to have derivative zero. `functionals` has one random functional of the output
    coordinates in each row, `directions` one random direction of an argument's coordinates in
    each column; None stands for the identity.
    """

    outputs: Coordinates
    graphed: tuple[bool, ...]
    inputs: tuple[Coordinates, ...]
    functionals: Functionals | None
    directions: tuple[Directions | None, ...]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.outputs.size if self.functionals is None else len(self.functionals)

    @property
    def has_graph(self) -> bool:
        """There is an output to differentiate."""
        return any(self.graphed)

    def graphed_rows(self) -> NDArray[np.intp]:
        """The rows that have a cotangent for an output with a graph."""
        if self.functionals is not None:
            return np.arange(self.rows if self.has_graph else 0)
        return np.flatnonzero(self.graphed_coordinates())

    def cotangent_rows(self, chosen: Sequence[int] | NDArray[np.intp]) -> FloatArray:
        """The cotangents of some rows, in coordinates."""
        if self.functionals is not None:
            return np.array([self.functionals[int(row)] for row in chosen])
        rows = np.zeros((len(chosen), self.outputs.size))
        rows[np.arange(len(chosen)), chosen] = 1.0
        return rows

    def blocks(self) -> list[slice]:
        """The rows that belong to one output each."""
        if self.functionals is not None:
            return [slice(0, len(self.functionals))]
        return [block.span for block in self.outputs.blocks]

    def eps(self) -> FloatArray:
        """The precision of the output that each row belongs to."""
        if self.functionals is not None:
            # A functional mixes all outputs, and is as imprecise as the worst of them.
            return np.full(self.rows, max(block.eps for block in self.outputs.blocks))
        eps = np.zeros(self.outputs.size)
        for block in self.outputs.blocks:
            eps[block.span] = block.eps
        return eps

    def graphed_coordinates(self) -> BoolArray:
        """Flag the output coordinates that belong to outputs with a graph."""
        mask = np.zeros(self.outputs.size, dtype=bool)
        for block, flag in zip(self.outputs.blocks, self.graphed, strict=True):
            mask[block.span] = flag
        return mask

    def reaches(self, primals: Sequence[Array]) -> list[FloatArray]:
        """For each argument the distances along its columns that change it by its own size."""
        return [
            np.array([directions.reach(k) for k in range(directions.shape[1])])
            if directions is not None
            else scales(primal)[: inputs.size]  # Integers have no columns.
            for primal, directions, inputs in zip(
                primals, self.directions, self.inputs, strict=True
            )
        ]

    def cotangents(self, vector: FloatArray) -> list[Array | None]:
        """A cotangent for each output with a graph, None for the others."""
        return only(self.outputs.unflatten(vector), self.graphed)


def only(arrays: Sequence[Array | None], flags: Sequence[bool]) -> list[Array | None]:
    """`arrays` with None in place of those that are not flagged."""
    return [array if flag else None for array, flag in zip(arrays, flags, strict=True)]


def lay_out(
    primals: Sequence[Array],
    outputs: Sequence[Array | None],
    graphed: tuple[bool, ...],
    seed: int,
    *,
    projected: bool = False,
) -> Layout:
    """The rows and columns to compare for a function with these primals and outputs.

    With `projected` random functionals stand for the rows, however few there are, and every
    coordinate of an input is a column: where nothing but gradients is computed that is cheap.
    """
    coordinates = Coordinates(outputs)
    directions = tuple(
        None if projected else _directions(primal, seed, i) for i, primal in enumerate(primals)
    )
    most = MOST_ROWS if all(each is None for each in directions) else MOST_ROWS_BY_DIRECTIONS
    functionals = None
    if coordinates.size > most or projected:
        count = QUICK_PROJECTIONS if projected else PROJECTIONS
        functionals = Functionals(generator(seed, "functionals"), count, coordinates.size)
    return Layout(
        coordinates,
        graphed,
        tuple(Coordinates([primal]) for primal in primals),
        functionals,
        directions,
    )


def _directions(primal: Array, seed: int, argument: int) -> Directions | None:
    if Coordinates([primal]).size <= MOST_COLUMNS:
        return None
    return Directions(generator(seed, f"directions {argument}"), primal, PROJECTIONS)
