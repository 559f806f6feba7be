"""The numeric side of a function at a point: its sampler, noise, lines and quotients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np
from msgspec.structs import replace

from gradtool.results.evidence import Scalar
from gradtool.results.report import LadderCurve, scalar
from gradtool.verify.comparison.tolerance import Tolerance
from gradtool.verify.oracle.difference_quotients import Line, coordinate_line, part_line
from gradtool.verify.oracle.estimate import Estimate, Status
from gradtool.verify.oracle.layout import Layout
from gradtool.verify.oracle.noise import Noise, measure
from gradtool.verify.oracle.oracle import Query, numeric_derivative, working_eps
from gradtool.verify.oracle.sampler import Sampler, widened
from gradtool.verify.oracle.steps import epsilon, power_of_two, scales
from gradtool.verify.oracle.symmetric_directions import SymmetricDirections
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray, is_continuous
from gradtool.verify.protocol.differentiable import Differentiable
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import Directions, generator
from gradtool.verify.thresholds.comparison import ADDITIVE_SLOPE_DIFFERENCE
from gradtool.verify.thresholds.effort import REMEMBERED_ENTRIES
from gradtool.verify.thresholds.noise import (
    CANCELLED_ROUNDINGS,
    OWN_PRECISION_ROUNDINGS,
    ROUNDING_FLOOR_LEAST_NOISE,
    ROUNDING_FLOOR_MOST_NOISE,
    ROUNDING_FLOOR_ROUNDINGS,
)
from gradtool.verify.thresholds.steps import (
    CURVE_MOST_STEPS,
    CURVE_STEP_RATIO,
    SMALLEST_STEP_SPACINGS,
)


class Numeric:
    """The derivative of a function at one point, from evaluations alone."""

    def __init__(
        self,
        function: Differentiable,
        primals: Sequence[Array],
        layout: Layout,
        seed: int,
        *,
        at_once: bool = False,
    ) -> None:
        self._layout = layout
        self._seed = seed
        # Even where samples are widened the analytic side computes in this precision.
        self._own_eps = layout.eps()
        wide = widened(function.evaluate, primals, layout.outputs)
        eps = self._own_eps if wide is None else np.full(layout.rows, epsilon(np.dtype(float)))
        self._is_widened = wide is not None
        point = primals if wide is None else wide
        many = partial(function.evaluate_many, or_loop=False) if at_once else None
        self._sampler = Sampler(function.evaluate, point, layout.outputs, layout.functionals, many)
        self._noise = measure(self._sampler, eps, generator(seed, "noise"))
        self._kept_lines = dict[int, list[Line]]()

    @property
    def is_batched(self) -> bool:
        """Batched evaluations were used."""
        return self._sampler.is_batched

    @property
    def point(self) -> Sequence[Array]:
        """The point at which the function is sampled, in the precision of the samples."""
        return self._sampler.primals

    @property
    def working_eps(self) -> float:
        """The precision that the function shows at this point."""
        finest = max((epsilon(p.dtype) for p in self.point if is_continuous(p.dtype)), default=0.0)
        return working_eps(self._noise, self._sampler.base, finest)

    @property
    def noise(self) -> FloatArray:
        """The noise of each output."""
        return self._noise.floor

    @property
    def is_plain(self) -> BoolArray:
        """Flags of outputs with no more noise than the rounding of a number of their size."""
        return self._noise.is_plain(self._sampler.base)

    def jacobian(self, argument: int, analytic: FloatArray, tolerance: Tolerance) -> Estimate:
        """The derivative with respect to one argument, as sharp as the claim `analytic` demands."""
        return self._answer(argument, self._lines(argument), analytic, tolerance)

    def is_additive(self, argument: int, known: Estimate, tolerance: Tolerance) -> BoolArray:
        """Flag outputs whose slopes along all coordinates add up to a slope across them.

        Where a function has a derivative they do. An output for which too little is known of
        them adds up as well.
        """
        rng = generator(self._seed, "across")
        directions = Directions(rng, self._sampler.primals[argument], 1)
        along = directions.combined(np.ones(1))
        expected = known.value @ along
        line = self._line(argument, directions, 0)
        claim = np.nan_to_num(expected)[:, None]
        across = self._answer(argument, [line], claim, tolerance.across(along))
        size = np.abs(known.value) @ np.abs(along) + np.abs(across.value[:, 0])
        slack = known.error @ np.abs(along) + across.error[:, 0] + ADDITIVE_SLOPE_DIFFERENCE * size
        bent = np.abs(expected - across.value[:, 0]) > slack
        return np.asarray(~(bent | (across.status[:, 0] == Status.KINK)))

    def resolution_error(self, argument: int) -> FloatArray:
        """Return the error that every entry has because of the case's own precision."""
        return self._resolution(self._lines(argument))

    def rounding_floor(
        self, argument: int, cancellation_scale: FloatArray | float = 0.0
    ) -> FloatArray:
        """Return for each entry a slope that is lost in the roundings of its output.

        Far out on a sigmoid the output still creeps, by a rounding here and there.
        `cancellation_scale` has the sizes of the numbers that each output is a difference of,
        where they are known.
        """
        size = np.nan_to_num(np.abs(self._sampler.base))
        # The measured noise counts up to a limit: a really noisy function must not pass as lost in
        # rounding.
        quiet = np.maximum(
            ROUNDING_FLOOR_MOST_NOISE * self._own_eps * size, ROUNDING_FLOOR_LEAST_NOISE
        )
        roundings = np.maximum(
            np.minimum(self._noise.floor, quiet),
            2 * self._own_eps * np.maximum(size, cancellation_scale),
        )
        lengths = np.array([line.scale for line in self._lines(argument)])
        return np.asarray(ROUNDING_FLOOR_ROUNDINGS * roundings[:, None] / lengths)

    @cached_property
    def cancellation_scale(self) -> FloatArray:
        """For each entry of an output the size of the numbers that such entries are differences of.

        Single precision rounds these so much more that it shows, in most entries if not in all.
        """
        with np.errstate(all="ignore"):  # Zeros and infinities come back as themselves.
            single = [p.astype(np.float32) if p.dtype == np.float64 else p for p in self.point]
        rounded = [p.astype(own.dtype) for p, own in zip(single, self.point, strict=True)]
        with np.errstate(invalid="ignore"):
            difference = np.abs(self._sampler.at(single) - self._sampler.at(rounded))
        sizes = np.nan_to_num(difference, posinf=0.0) / epsilon(np.dtype(np.float32))
        for rows in self._layout.blocks():
            sizes[rows] = sizes[rows].max(initial=0.0)
        return np.asarray(sizes)

    def is_made_of_roundings(self, cancellation_scale: FloatArray) -> BoolArray:
        """Flag outputs that move in coarse steps because they are small next to their terms."""
        return np.asarray(
            np.abs(self._sampler.base) <= CANCELLED_ROUNDINGS * self._own_eps * cancellation_scale
        )

    def curve(self, argument: int, row: int, column: int) -> LadderCurve:
        """The difference quotients of one entry at falling steps."""
        return ladder_curve(self._lines(argument)[column], self._noise, row)

    def _answer(
        self, argument: int, lines: Sequence[Line], analytic: FloatArray, tolerance: Tolerance
    ) -> Estimate:
        return numeric_derivative(
            Query(
                lines=lines,
                base=self._sampler.base,
                analytic=analytic,
                noise=self._noise,
                tolerance=tolerance,
                blocks=self._layout.blocks(),
                eps=epsilon(self._sampler.primals[argument].dtype),
                resolution=self._resolution(lines),
            )
        )

    def _resolution(self, lines: Sequence[Line]) -> FloatArray:
        """Return the slope that the case's own precision cannot resolve, where samples are finer.

        A slope that moves an output by less than its roundings, over the whole scale of the
        input, is lost on the analytic side.
        """
        lengths = np.array([line.scale for line in lines])
        if not self._is_widened:
            return np.zeros((self._layout.rows, len(lines)))
        jitter = OWN_PRECISION_ROUNDINGS * self._own_eps * np.nan_to_num(np.abs(self._sampler.base))
        return np.asarray(jitter[:, None] / lengths)

    def _lines(self, argument: int) -> list[Line]:
        """A line for each column; where entries are few, they keep what they evaluate."""
        if argument not in self._kept_lines:
            lines = self._new_lines(argument)
            if len(lines) * self._layout.rows > REMEMBERED_ENTRIES:
                return lines
            self._kept_lines[argument] = [replace(line, known={}) for line in lines]
        return self._kept_lines[argument]

    def _new_lines(self, argument: int) -> list[Line]:
        directions = self._layout.directions[argument]
        if directions is not None:
            return [self._line(argument, directions, k) for k in range(directions.shape[1])]
        lengths = scales(self._sampler.primals[argument])
        return [
            coordinate_line(self._sampler, argument, coordinate, float(length))
            for coordinate, length in enumerate(lengths)
        ]

    def _line(
        self, argument: int, directions: Directions | SymmetricDirections, number: int
    ) -> Line:
        """The line along one direction; its scale is where a first coordinate has gone its own."""
        dtype = self._sampler.primals[argument].dtype
        reach = directions.reach(number)
        add = partial(directions.part, number)
        return part_line(self._sampler, argument, add, reach, epsilon(dtype))


def ladder_curve(line: Line, noise: Noise, row: int) -> LadderCurve:
    """Central difference quotients of one output along `line`; two evaluations for each."""
    steps: list[float] = []
    quotients: list[Scalar] = []
    floors: list[Scalar] = []
    step = power_of_two(line.scale / 2)
    while len(steps) < CURVE_MOST_STEPS and step >= SMALLEST_STEP_SPACINGS * line.resolution:
        (ahead, plus), (back, minus) = line.at(step), line.at(-step)
        with np.errstate(all="ignore"):
            quotient = (plus[row] - minus[row]) / (ahead - back)
            size = np.nan_to_num(np.fmax(np.abs(plus), np.abs(minus)))
        steps.append(step)
        quotients.append(scalar(quotient))
        floors.append(scalar(noise.at(size)[row] / step))
        step *= CURVE_STEP_RATIO
    return LadderCurve(steps=tuple(steps), quotients=tuple(quotients), noise=tuple(floors))
