"""The numeric side of a function at a point: its sampler, its noise and its lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.results import LadderCurve
from gradtool.verify.coordinates import FloatArray, real_view
from gradtool.verify.curve import ladder_curve
from gradtool.verify.estimate import Estimate
from gradtool.verify.jacobian import Evaluate, Line, Sampler, coordinate_line, direction_line
from gradtool.verify.layout import Layout
from gradtool.verify.noise import measure
from gradtool.verify.oracle import Question, answer
from gradtool.verify.protocol import Array
from gradtool.verify.randomness import generator
from gradtool.verify.steps import epsilon, scales
from gradtool.verify.tolerance import Tolerance
from gradtool.verify.widening import widened

_ROUNDINGS = 16.0
"""Roundings of an output, in the case's own precision, that its analytic derivative feels."""


class Numeric:
    """What only evaluations of the function know about its derivative at one point."""

    def __init__(
        self, evaluate: Evaluate, primals: Sequence[Array], layout: Layout, seed: int
    ) -> None:
        self._layout = layout
        self._own_eps = layout.eps()
        wide = widened(evaluate, primals, layout.outputs)
        eps = self._own_eps if wide is None else np.full(layout.rows, epsilon(np.dtype(float)))
        self._is_widened = wide is not None
        point = primals if wide is None else wide
        self._sampler = Sampler(evaluate, point, layout.outputs, layout.functionals)
        self._noise = measure(self._sampler, eps, generator(seed, "noise"))

    def jacobian(self, argument: int, analytic: FloatArray, tolerance: Tolerance) -> Estimate:
        """The derivative with respect to one argument, as sharp as the claim `analytic` demands."""
        primal = self._sampler.primals[argument]
        lines = self._lines(argument)
        return answer(
            Question(
                lines=lines,
                base=self._sampler.base,
                analytic=analytic,
                noise=self._noise,
                tolerance=tolerance,
                blocks=self._layout.blocks(),
                eps=epsilon(primal.dtype),
                least=self._resolution(lines),
            )
        )

    def curve(self, argument: int, row: int, column: int) -> LadderCurve:
        """The difference quotients of one entry at falling steps."""
        return ladder_curve(self._lines(argument)[column], self._noise, row)

    def _resolution(self, lines: Sequence[Line]) -> FloatArray:
        """What the case's own precision cannot resolve of a slope, where samples are finer.

        A slope that moves an output by less than its roundings, over the whole scale of the
        input, is lost on the analytic side.
        """
        lengths = np.array([line.scale for line in lines])
        if not self._is_widened:
            return np.zeros((self._layout.rows, len(lines)))
        jitter = _ROUNDINGS * self._own_eps * np.nan_to_num(np.abs(self._sampler.base))
        return np.asarray(jitter[:, None] / lengths)

    def _lines(self, argument: int) -> list[Line]:
        """A line for each column."""
        directions = self._layout.directions[argument]
        if directions is not None:
            return [self._line(argument, direction) for direction in directions.T]
        lengths = scales(self._sampler.primals[argument])
        return [
            coordinate_line(self._sampler, argument, coordinate, float(length))
            for coordinate, length in enumerate(lengths)
        ]

    def _line(self, argument: int, direction: FloatArray) -> Line:
        """The line along `direction`; its scale is where the first coordinate has gone its own."""
        primal = self._sampler.primals[argument]
        along: list[Array | None] = [None] * len(self._sampler.primals)
        along[argument] = _as_array(direction, primal)
        reach = float(np.min(scales(primal) / np.abs(direction), initial=np.inf))
        return direction_line(self._sampler, along, reach, epsilon(primal.dtype))


def _as_array(direction: FloatArray, primal: Array) -> Array:
    """A direction in coordinates as an array like `primal`, in double precision."""
    array = np.empty(primal.shape, np.result_type(primal.dtype, np.float64))
    real_view(array)[...] = direction
    return array
