"""Finds the wrong entry of a Jacobian that is too large to be compared as a whole.

A random direction of the inputs, seen through a random functional of the outputs, shows that
something is wrong, not where. One run of backward has the analytic side of every part of the
direction; two evaluations have the numeric side. So the half that disagrees more is halved again,
until one input is left; then the outputs are halved, at one run of backward each time.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
from numpy.typing import NDArray

from gradtool.verify.comparison.tolerance import default_rtol
from gradtool.verify.oracle.layout import Layout, only
from gradtool.verify.oracle.steps import cheap_step, scales_given_typical, typical_scale
from gradtool.verify.protocol.coordinates import FloatArray, real_view
from gradtool.verify.protocol.differentiable import Differentiable
from gradtool.verify.protocol.observation import Array, Primals
from gradtool.verify.thresholds.comparison import (
    GRADIENT_ROUNDINGS,
    LOCATED_NOISE_ROUNDINGS,
    LOCATED_REMAINDER,
)


class Located(msgspec.Struct, frozen=True):
    """One wrong entry of a Jacobian, by the coordinates of its input and output.

    `explains_all` says that nothing else seems to be wrong, as far as the direction shows.
    """

    column: int
    row: int
    analytic: float
    numeric: float
    error: float
    allowed: float
    explains_all: bool


class Projection(msgspec.Struct, frozen=True):
    """A derivative that is known to be wrong: of a functional along a direction.

    `cotangent` is the functional's, in coordinates of all outputs; `direction` has parts of the
    direction, in coordinates of `argument`, or is the one coordinate that it follows. `reach` is
    the largest distance along it. `off` is the analytic value minus the numeric one.
    """

    argument: int
    cotangent: FloatArray
    direction: Callable[[slice], FloatArray] | int
    reach: float
    off: float


class EntrySearch:
    """Looks for a wrong entry.

    Args:
        function: The Function.
        primals: The point.
        point: The same in the precision that the numeric side is sampled in.
        layout: Of the function's Jacobians.
        eps: The working precision of what is sampled.
        rtol: Relative tolerance of an entry; None for the default.
    """

    def __init__(
        self,
        function: Differentiable,
        primals: Primals,
        point: Primals,
        layout: Layout,
        eps: float,
        rtol: float | None = None,
    ) -> None:
        self._function = function
        self._primals = primals
        self._point = list(point)
        self._layout = layout
        self._eps = eps
        self._rtol = rtol

    def run(self, wrong: Projection) -> Located | None:
        """The entry that disagrees most on the way down; None if it is right after all."""
        gradient = self._gradient(wrong.argument, wrong.cotangent)
        column, along = self._input(wrong, gradient)
        values, errors = self._column(wrong.argument, column)
        weighed = float(wrong.cotangent @ values)
        row, analytic = self._output(wrong, column, values, float(gradient[column]) - weighed)
        explained = (float(gradient[column]) - weighed) * along
        allowed = self._allowed(wrong.argument, row, analytic, values[row]) + errors[row]
        # `not >` lets NaN end the search as well.
        if not abs(analytic - values[row]) > allowed:
            return None
        return Located(
            column=column,
            row=row,
            analytic=analytic,
            numeric=float(values[row]),
            error=float(errors[row]),
            allowed=float(allowed),
            explains_all=abs(wrong.off - explained) <= LOCATED_REMAINDER * abs(wrong.off),
        )

    def _gradient(self, argument: int, cotangent: FloatArray) -> FloatArray:
        sent = only(self._layout.outputs.unflatten(cotangent), self._layout.graphed)
        (gradients,) = self._function.vjps(self._primals, [sent])
        coordinates, gradient = self._layout.inputs[argument], gradients[argument]
        return np.zeros(coordinates.size) if gradient is None else coordinates.flatten([gradient])

    # ---- the input --------------------------------------------------------------------------

    def _input(self, wrong: Projection, gradient: FloatArray) -> tuple[int, float]:
        """The coordinate at the end of halving the direction, and the direction's entry there."""
        along = wrong.direction
        if isinstance(along, int):
            return along, 1.0
        start, stop, off = 0, len(gradient), wrong.off
        step = cheap_step(wrong.reach, self._eps)
        while stop - start > 1:
            middle = (start + stop) // 2
            part = slice(start, middle)
            moves = along(part)
            left = float(gradient[part] @ moves) - self._slope(wrong, part, step * moves) / step
            # Measured once, not twice: what the whole is off by is known.
            right = off - left
            start, stop, off = (
                (start, middle, left) if abs(left) >= abs(right) else (middle, stop, right)
            )
        return start, float(along(slice(start, stop))[0])

    def _slope(self, wrong: Projection, part: slice, moves: FloatArray) -> float:
        """Return the growth of the functional as some coordinates move, to first order."""
        difference = self._outputs(wrong.argument, part, moves)
        difference -= self._outputs(wrong.argument, part, -moves)
        return float(wrong.cotangent @ difference) / 2

    def _outputs(self, argument: int, part: slice, by: FloatArray | float) -> FloatArray:
        """The outputs where some coordinates of an argument have moved."""
        moved = self._point[argument].copy()
        real_view(moved)[part] += by
        primals: list[Array] = [*self._point]
        primals[argument] = moved
        with np.errstate(all="ignore"):
            return self._layout.outputs.flatten(self._function.evaluate(primals))

    # ---- the output -------------------------------------------------------------------------

    def _column(self, argument: int, column: int) -> tuple[FloatArray, FloatArray]:
        """The derivatives of all outputs by one coordinate, and their errors."""
        coordinates = real_view(self._point[argument])
        part = slice(column, column + 1)
        scale = float(scales_given_typical(coordinates[part], typical_scale(coordinates))[0])
        step = cheap_step(scale, self._eps)
        coarse, size = self._quotient(argument, part, 2 * step)
        fine, _ = self._quotient(argument, part, step)
        # Extrapolation is sharper than either quotient, so their difference bounds its error.
        errors = np.abs(fine - coarse) + LOCATED_NOISE_ROUNDINGS * self._eps * size / step
        return (4 * fine - coarse) / 3, errors

    def _quotient(self, argument: int, part: slice, step: float) -> tuple[FloatArray, FloatArray]:
        """Central difference quotients of all outputs, and the sizes of the outputs."""
        plus, minus = (self._outputs(argument, part, by) for by in (step, -step))
        size = np.abs(plus)
        plus -= minus
        plus /= 2 * step
        return plus, size

    def _output(
        self, wrong: Projection, column: int, values: FloatArray, off: float
    ) -> tuple[int, float]:
        """The output at the end of halving the functional, and its analytic derivative."""
        rows = np.flatnonzero(wrong.cotangent)
        while len(rows) > 1:
            half = rows[: len(rows) // 2]
            measured = float(wrong.cotangent[half] @ values[half])
            left = self._claimed(wrong, column, half) - measured
            if abs(left) >= abs(off - left):
                rows, off = half, left
            else:
                rows, off = rows[len(half) :], off - left
        return int(rows[0]), self._claimed(wrong, column, rows) / float(wrong.cotangent[rows[0]])

    def _claimed(self, wrong: Projection, column: int, rows: NDArray[np.intp]) -> float:
        """Return the analytic derivative of a part of the functional."""
        cotangent = np.zeros_like(wrong.cotangent)
        cotangent[rows] = wrong.cotangent[rows]
        return float(self._gradient(wrong.argument, cotangent)[column])

    def _allowed(self, argument: int, row: int, analytic: float, numeric: float) -> float:
        """Return the tolerance of one entry."""
        inputs, outputs = self._layout.inputs[argument].blocks, self._layout.outputs.blocks
        eps = max(
            max(block.eps for block in inputs),
            max(block.eps for block in outputs if block.start <= row < block.stop),
        )
        rtol = default_rtol(eps) if self._rtol is None else self._rtol
        return rtol * abs(numeric) + GRADIENT_ROUNDINGS * eps * max(abs(analytic), abs(numeric))
