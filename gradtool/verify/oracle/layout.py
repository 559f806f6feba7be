"""The rows and columns of a Jacobian that are compared: all of them, or random products.

Up to a budget every coordinate of the outputs is a row and every coordinate of an input a column.
Beyond it a few random functionals of the outputs stand for the rows, and a few random directions
for the columns. The columns of a matrix that has to stay symmetric are symmetric directions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from gradtool.verify.oracle.steps import scales
from gradtool.verify.oracle.symmetric_directions import (
    SymmetricDirections,
    all_directions,
    count_of_directions,
    random_directions,
)
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


class Layout(msgspec.Struct, frozen=True):
    """The rows and columns of the Jacobians of one function.

    `graphed` says which outputs are connected to an input that asks for a gradient; the others
    are claimed to have derivative zero. `functionals` has one random functional of the output
    coordinates in each row, `directions` one direction of an argument's coordinates in each
    column, random or symmetric; None stands for the identity.
    """

    outputs: Coordinates
    graphed: tuple[bool, ...]
    inputs: tuple[Coordinates, ...]
    functionals: Functionals | None
    directions: tuple[Directions | SymmetricDirections | None, ...]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.outputs.size if self.functionals is None else len(self.functionals)

    def is_symmetric(self, argument: int) -> bool:
        """The columns of an argument keep it symmetric."""
        return isinstance(self.directions[argument], SymmetricDirections)

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
    symmetric: Collection[int] = (),
) -> Layout:
    """The rows and columns to compare for a function with these primals and outputs.

    With `projected` random functionals stand for the rows, however few there are, and every
    coordinate of an input is a column: where nothing but gradients is computed that is cheap.
    The arguments `symmetric` only move along directions that keep them symmetric.
    """
    coordinates = Coordinates(outputs)
    directions = tuple(
        None if projected else _directions(primal, seed, i, is_symmetric=i in symmetric)
        for i, primal in enumerate(primals)
    )
    is_sampled = not projected and any(map(_has_many_columns, primals))
    most = MOST_ROWS_BY_DIRECTIONS if is_sampled else MOST_ROWS
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


def _directions(
    primal: Array, seed: int, argument: int, *, is_symmetric: bool
) -> Directions | SymmetricDirections | None:
    rng = generator(seed, f"directions {argument}")
    if is_symmetric:
        if count_of_directions(primal) <= MOST_COLUMNS:
            return all_directions(primal)
        return random_directions(primal, rng, PROJECTIONS)
    return Directions(rng, primal, PROJECTIONS) if _has_many_columns(primal) else None


def _has_many_columns(primal: Array) -> bool:
    return Coordinates([primal]).size > MOST_COLUMNS
