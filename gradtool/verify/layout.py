"""Which rows and columns of a Jacobian are compared: all of them, or random products.

Up to a budget every coordinate of the outputs is a row and every coordinate of an input a
column. Beyond it a few random functionals of the outputs stand for the rows, and a few random
directions for the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradtool.verify.coordinates import BoolArray, Coordinates, FloatArray
from gradtool.verify.protocol import Array
from gradtool.verify.randomness import generator, signed, unit
from gradtool.verify.steps import epsilon, scales

MOST_ROWS = 2000
MOST_COLUMNS = 2000
PROJECTIONS = 4


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
    functionals: FloatArray | None
    directions: tuple[FloatArray | None, ...]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.outputs.size if self.functionals is None else len(self.functionals)

    @property
    def has_graph(self) -> bool:
        """Whether there is an output to differentiate."""
        return any(self.graphed)

    def cotangent_rows(self) -> FloatArray:
        """The cotangent of each row, in coordinates."""
        return np.eye(self.outputs.size) if self.functionals is None else self.functionals

    def blocks(self) -> list[slice]:
        """The rows that belong to one output each."""
        if self.functionals is not None:
            return [slice(0, len(self.functionals))]
        return [block.span for block in self.outputs.blocks]

    def eps(self) -> FloatArray:
        """The precision of the output that each row belongs to."""
        eps = np.zeros(self.outputs.size)
        for block in self.outputs.blocks:
            if block.stop > block.start:
                eps[block.span] = epsilon(block.dtype)
        return eps if self.functionals is None else np.full(self.rows, eps.max())

    def graphed_coordinates(self) -> BoolArray:
        """Which output coordinates belong to outputs with a graph."""
        mask = np.zeros(self.outputs.size, dtype=bool)
        for block, flag in zip(self.outputs.blocks, self.graphed, strict=True):
            mask[block.span] = flag
        return mask

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
) -> Layout:
    """The rows and columns to compare for a function with these primals and outputs."""
    coordinates = Coordinates(outputs)
    functionals = None
    if coordinates.size > MOST_ROWS:
        functionals = signed(generator(seed, "functionals"), (PROJECTIONS, coordinates.size))
    return Layout(
        coordinates,
        graphed,
        tuple(Coordinates([primal]) for primal in primals),
        functionals,
        tuple(_directions(primal, seed, i) for i, primal in enumerate(primals)),
    )


def _directions(primal: Array, seed: int, argument: int) -> FloatArray | None:
    size = Coordinates([primal]).size
    if size <= MOST_COLUMNS:
        return None
    rng = generator(seed, f"directions {argument}")
    return np.stack([unit(rng, size) * scales(primal) for _ in range(PROJECTIONS)], axis=1)
