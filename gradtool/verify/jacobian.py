"""Where the function is sampled: the only loops over evaluations in the checker.

A `Line` is the function along one direction of its inputs: one coordinate, or a random
direction where there are too many. Everything numeric is built from lines, so a forward
that takes many points at once can replace the loops here without a change elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gradtool.verify.coordinates import Coordinates, FloatArray, real_view
from gradtool.verify.protocol import Array
from gradtool.verify.steps import epsilon

Evaluate = Callable[[Sequence[Array]], Sequence[Array | None]]
"""Outputs at the given primals. May raise whatever the user's code raises."""


class Sampler:
    """The outputs of a function as a real vector, at any point, whatever happens there.

    A point at which the function raises, or returns arrays of other shapes, is outside its
    domain: all its outputs are NaN there. With `rows` (one functional of the outputs each) the
    sampler returns their values instead of the outputs themselves.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        primals: Sequence[Array],
        outputs: Coordinates,
        rows: FloatArray | None = None,
    ) -> None:
        self._evaluate = evaluate
        self._outputs = outputs
        self._rows = rows
        self.primals = [np.array(primal, order="C") for primal in primals]
        self.size = outputs.size if rows is None else len(rows)
        self.base = self.at(self.primals)

    def at(self, primals: Sequence[Array]) -> FloatArray:
        """The outputs at `primals`."""
        with np.errstate(all="ignore"):
            try:
                vector = self._outputs.flatten(self._evaluate(primals))
            except Exception:  # Out of its domain a function may raise anything.
                return np.full(self.size, np.nan)
            return vector if self._rows is None else self._rows @ vector


@dataclass(frozen=True)
class Line:
    """A function along one direction through a point.

    `at(t)` returns the distance really gone, which rounding can make differ from `t`, and the
    outputs there. `scale` is the distance over which the inputs change by their own size, and
    `resolution` the smallest distance that their dtype can tell apart.
    """

    at: Callable[[float], tuple[float, FloatArray]]
    base: FloatArray
    scale: float
    resolution: float


def coordinate_line(sampler: Sampler, index: int, coordinate: int, scale: float) -> Line:
    """The line along one real coordinate of primal `index`."""
    primals = list(sampler.primals)
    here = real_view(primals[index])[coordinate]

    def at(t: float) -> tuple[float, FloatArray]:
        moved = primals[index].copy()
        flat = real_view(moved)
        before = float(flat[coordinate])
        flat[coordinate] += t
        return float(flat[coordinate]) - before, sampler.at(_replaced(primals, index, moved))

    resolution = float(np.spacing(np.abs(here))) if here else scale * epsilon(here.dtype) / 16
    return Line(at, sampler.base, scale, resolution)


def direction_line(
    sampler: Sampler, directions: Sequence[Array | None], scale: float, eps: float
) -> Line:
    """The line along `directions`, one array for each primal; None leaves a primal where it is.

    `eps` is the relative resolution of the primals that move.
    """

    def at(t: float) -> tuple[float, FloatArray]:
        return t, sampler.at(moved(sampler.primals, directions, t))

    return Line(at, sampler.base, scale, eps * scale)


def moved(primals: Sequence[Array], directions: Sequence[Array | None], t: float) -> list[Array]:
    """`primals` moved by `t` along `directions`, each in its own dtype."""
    return [
        primal if direction is None else (primal + t * direction).astype(primal.dtype)
        for primal, direction in zip(primals, directions, strict=True)
    ]


def _replaced(primals: list[Array], index: int, primal: Array) -> list[Array]:
    return [*primals[:index], primal, *primals[index + 1 :]]


@dataclass(frozen=True)
class Differences:
    """Central differences of several lines, one column for each.

    `value` is the difference quotient, `gap` the distance between the two one-sided ones, and
    `step` the step of each column. What could not be evaluated is NaN.
    """

    value: FloatArray
    gap: FloatArray
    step: FloatArray


def central_differences(lines: Sequence[Line], steps: Sequence[float], rows: int) -> Differences:
    """One central difference for each of `lines`; two evaluations each."""
    value = np.empty((rows, len(lines)))
    gap = np.empty((rows, len(lines)))
    for column, (line, step) in enumerate(zip(lines, steps, strict=True)):
        ahead, plus = line.at(step)
        back, minus = line.at(-step)
        with np.errstate(all="ignore"):
            value[:, column] = (plus - minus) / (ahead - back)
            gap[:, column] = np.abs((plus - line.base) / ahead - (minus - line.base) / back)
    return Differences(value, gap, np.asarray(steps, dtype=np.float64))
