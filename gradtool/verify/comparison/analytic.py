"""The analytic Jacobian: the gradients that backward returns, one cotangent after another.

Each row has a cotangent of random sign and size, and is divided by it. A backward that ignores its
cotangent, or squares it, or takes its absolute value, is then wrong in a row where a cotangent of
exactly one would have hidden it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from gradtool.verify.oracle.layout import Layout, only
from gradtool.verify.protocol.coordinates import Coordinates, FloatArray
from gradtool.verify.protocol.differentiable import Differentiable
from gradtool.verify.protocol.observation import Array, Primals
from gradtool.verify.thresholds.comparison import BATCHED_ROW_DIFFERENCE, BATCHED_ROW_ROUNDINGS
from gradtool.verify.thresholds.effort import BATCH_BYTES, BATCH_FEWEST


class AnalyticJacobian(msgspec.Struct, frozen=True):
    """One matrix for each argument, with the rows and columns of a `Layout`.

    `returned` says, for each argument, whether backward gave it a gradient in any row.
    `scaling` is what each row was divided by. `is_batched` says that it came of batched runs.
    `outputs` are those of the forward that these rows came from, where there was only one.
    """

    matrices: tuple[FloatArray, ...]
    returned: tuple[bool, ...]
    scaling: FloatArray
    is_batched: bool = False
    outputs: tuple[Array | None, ...] | None = None


def analytic_jacobian(
    function: Differentiable,
    primals: Primals,
    layout: Layout,
    scaling: FloatArray,
    *,
    at_once: bool = False,
    first: Sequence[Array | None] | None = None,
    chosen: NDArray[np.intp] | None = None,
) -> AnalyticJacobian:
    """Return the Jacobian that `function`'s backward gives, each row with its own `scaling`.

    Outputs without a graph get no cotangent. With `at_once` backward runs on batches of
    cotangents, if it can and a row that is redone alone is the same. `first` are the gradients for
    the first row, where these are known. Rows that are not `chosen`, if some are, are zero.
    Exceptions of the user's code and of the engine pass.
    """
    rows = Rows(function, primals, layout, scaling)
    asked = layout.graphed_rows() if chosen is None else chosen
    if first is not None:
        return rows.after(first)
    found = None
    # A batch pays for the row that is redone alone only from a few rows on.
    if at_once and len(asked) >= BATCH_FEWEST and rows.most_at_once >= BATCH_FEWEST:
        found = rows.batched(asked)
    matrices, returned = found or rows.one_by_one(asked)
    return AnalyticJacobian(tuple(matrices), tuple(returned), scaling, found is not None)


_Found = tuple[list[FloatArray], list[bool]]
"""A matrix for each argument, and whether it got a gradient at all."""


Column = Sequence[Array | None] | Array
"""The gradients of one argument for several cotangents, one after another or stacked."""


def _column(array: Array | None, count: int) -> Column:
    return [None] * count if array is None else array


class Rows:
    """Runs backward for rows of a layout."""

    def __init__(
        self, function: Differentiable, primals: Primals, layout: Layout, scaling: FloatArray
    ) -> None:
        self._function = function
        self._primals = primals
        self._layout = layout
        self._scaling = scaling
        each = 8 * (layout.outputs.size + sum(inputs.size for inputs in layout.inputs))
        self.most_at_once = max(1, BATCH_BYTES // (each + 1))

    def one_by_one(self, asked: NDArray[np.intp]) -> _Found:
        """A run of backward for each row."""
        found = self._nothing()
        for chunk in self._chunks(asked):
            cotangents = [self._layout.cotangents(row) for row in self._cotangents(chunk)]
            gradients = self._function.vjps(self._primals, cotangents)
            self._put(found, chunk, list(zip(*gradients, strict=True)))
        return found

    def after(self, first: Sequence[Array | None]) -> AnalyticJacobian:
        """All rows, of which the gradients for the first are known."""
        found = self._nothing()
        self._put(found, np.zeros(1, np.intp), [[each] for each in first])
        return self._with_outputs(self._layout.graphed_rows()[1:], found)

    def with_outputs(self) -> AnalyticJacobian:
        """All rows, and the outputs, from one call to forward."""
        return self._with_outputs(self._layout.graphed_rows(), self._nothing())

    def _with_outputs(self, asked: NDArray[np.intp], found: _Found) -> AnalyticJacobian:
        cotangents = [self._layout.cotangents(row) for row in self._cotangents(asked)]
        outputs, gradients = self._function.valued_vjps(self._primals, cotangents)
        self._put(found, asked, list(zip(*gradients, strict=True)))
        matrices, returned = found
        return AnalyticJacobian(tuple(matrices), tuple(returned), self._scaling, outputs=outputs)

    def batched(self, asked: NDArray[np.intp]) -> _Found | None:
        """A run of backward for many rows; None where that cannot be relied on."""
        found = self._nothing()
        for chunk in self._chunks(asked):
            stacks = self._layout.outputs.unflatten_many(self._cotangents(chunk))
            sent = only(stacks, self._layout.graphed)
            stacked = self._function.vjps_many(self._primals, sent, or_loop=False)
            if not stacked.batched:
                return None
            self._put(found, chunk, [_column(array, len(chunk)) for array in stacked.arrays])
        return found if self._is_confirmed(found, asked) else None

    def _is_confirmed(self, found: _Found, asked: NDArray[np.intp]) -> bool:
        """Return True if a row that is redone alone is the same."""
        # Fixed, so that a repeated run redoes the same row.
        row = np.random.default_rng(len(asked)).choice(asked, 1)
        alone = self.one_by_one(row)
        for one, other, inputs in zip(found[0], alone[0], self._layout.inputs, strict=True):
            eps = max(block.eps for block in inputs.blocks)
            largest = np.nan_to_num(np.abs(other[row]), posinf=0.0).max(initial=0.0)
            atol = max(BATCHED_ROW_DIFFERENCE, BATCHED_ROW_ROUNDINGS * eps) * float(largest)
            if not np.allclose(one[row], other[row], rtol=0.0, atol=atol, equal_nan=True):
                return False
        return found[1] == alone[1] or not any(alone[1])

    def _nothing(self) -> _Found:
        widths = [width(self._layout, i) for i in range(len(self._primals))]
        matrices = [np.zeros((self._layout.rows, columns)) for columns in widths]
        return matrices, [False] * len(widths)

    def _chunks(self, asked: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        step = self.most_at_once
        return [asked[start : start + step] for start in range(0, len(asked), step)]

    def _cotangents(self, chunk: NDArray[np.intp]) -> FloatArray:
        return self._scaling[chunk, None] * self._layout.cotangent_rows(chunk)

    def _put(self, found: _Found, chunk: NDArray[np.intp], gradients: Sequence[Column]) -> None:
        matrices, returned = found
        for index, column in enumerate(gradients):
            if isinstance(column, np.ndarray) or any(each is not None for each in column):
                rows = projected(self._layout, index, column)
                matrices[index][chunk] = rows / self._scaling[chunk, None]
                returned[index] = True


def width(layout: Layout, argument: int) -> int:
    """Return the number of columns in the matrix of an argument."""
    directions = layout.directions[argument]
    return layout.inputs[argument].size if directions is None else directions.shape[1]


def projected(layout: Layout, argument: int, gradients: Column) -> FloatArray:
    """One row for each gradient, in the argument's columns; None counts as zero."""
    coordinates, directions = layout.inputs[argument], layout.directions[argument]
    if isinstance(gradients, np.ndarray):
        rows = coordinates.flatten_many([gradients], len(gradients))
        return rows if directions is None else np.array([directions.products(r) for r in rows])
    flat = (_flat(coordinates, gradient) for gradient in gradients)
    return np.array([row if directions is None else directions.products(row) for row in flat])


def _flat(coordinates: Coordinates, gradient: Array | None) -> FloatArray:
    return np.zeros(coordinates.size) if gradient is None else coordinates.flatten([gradient])
