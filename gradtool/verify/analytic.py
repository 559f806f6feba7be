"""The analytic Jacobian: what backward returns for one cotangent after another.

Each row is asked for with a cotangent of random sign and size, and divided by it. A backward
that ignores its cotangent, or squares it, or takes its absolute value, is then wrong in a row
where a cotangent of exactly one would have hidden it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradtool.verify.coordinates import Coordinates, FloatArray
from gradtool.verify.layout import Layout
from gradtool.verify.protocol import Array, Differentiable, Primals

_ROWS_AT_ONCE = 256
"""Rows asked of one forward: bounds the memory that their cotangents take."""


@dataclass(frozen=True)
class AnalyticJacobian:
    """One matrix for each argument, with the rows and columns of a `Layout`.

    `returned` says, for each argument, whether backward gave it a gradient in any row.
    `scaling` is what each row was divided by.
    """

    matrices: tuple[FloatArray, ...]
    returned: tuple[bool, ...]
    scaling: FloatArray


def analytic_jacobian(
    function: Differentiable, primals: Primals, layout: Layout, scaling: FloatArray
) -> AnalyticJacobian:
    """The Jacobian as `function`'s backward has it, each row asked for with its own `scaling`.

    Outputs without a graph get no cotangent. Raises whatever the user's code or the engine
    raises in backward.
    """
    rows = layout.cotangent_rows()
    matrices = [np.zeros((len(rows), width(layout, i))) for i in range(len(primals))]
    returned = np.zeros(len(primals), dtype=bool)
    asked = np.flatnonzero(rows[:, layout.graphed_coordinates()].any(axis=1))
    for start in range(0, len(asked), _ROWS_AT_ONCE):
        chunk = asked[start : start + _ROWS_AT_ONCE]
        cotangents = [layout.cotangents(row) for row in scaling[chunk, None] * rows[chunk]]
        gradients = function.vjps(primals, cotangents)
        for index, matrix in enumerate(matrices):
            column = [gradient[index] for gradient in gradients]
            matrix[chunk] = projected(layout, index, column) / scaling[chunk, None]
            returned[index] |= any(entry is not None for entry in column)
    return AnalyticJacobian(tuple(matrices), tuple(bool(flag) for flag in returned), scaling)


def width(layout: Layout, argument: int) -> int:
    """How many columns the matrix of an argument has."""
    directions = layout.directions[argument]
    return layout.inputs[argument].size if directions is None else directions.shape[1]


def projected(layout: Layout, argument: int, gradients: Sequence[Array | None]) -> FloatArray:
    """One row for each gradient, in the argument's columns; None counts as zero."""
    coordinates, directions = layout.inputs[argument], layout.directions[argument]
    if directions is None:
        return np.array([_flat(coordinates, gradient) for gradient in gradients])
    return np.array([_flat(coordinates, gradient) @ directions for gradient in gradients])


def _flat(coordinates: Coordinates, gradient: Array | None) -> FloatArray:
    return np.zeros(coordinates.size) if gradient is None else coordinates.flatten([gradient])
