"""Lines through a point, and difference quotients along them.

A `Line` is the function along one direction of one input: one coordinate, or a random direction
where there are too many. Everything numeric is built from lines. Where there are many points to
evaluate, of one line or of several, the sampler gets them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.verify.oracle.sampler import Point, Sampler
from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import FloatArray, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import parts
from gradtool.verify.thresholds.steps import DWARFED


class Line(msgspec.Struct, frozen=True):
    """A function along one direction through a point.

    `move(t)` returns the distance after rounding, which may differ from `t`, and the point there.
    `scale` is the distance over which the inputs change by their own size, and `resolution` the
    smallest distance that their dtype can tell apart. `known` has what was evaluated, by `t`; None
    to keep nothing. `own_scale` is the size of the coordinate itself, if that is not zero, where
    `scale` is that of its array.
    """

    sampler: Sampler
    move: Callable[[float], tuple[float, Point]]
    scale: float
    resolution: float
    known: dict[float, tuple[float, FloatArray]] | None = None
    own_scale: float | None = None

    @property
    def is_dwarfed(self) -> bool:
        """The coordinate is far smaller than the others of its array."""
        return self.own_scale is not None and self.own_scale < DWARFED * self.scale

    def close_up(self) -> Line:
        """The same line with the scale of the coordinate itself."""
        return self if self.own_scale is None else replace(self, scale=self.own_scale)

    @property
    def base(self) -> FloatArray:
        """The outputs where the line starts."""
        return self.sampler.base

    def at(self, t: float) -> tuple[float, FloatArray]:
        """Return the distance after rounding, and the outputs there."""
        return sample([(self, t)])[0]


def coordinate_line(sampler: Sampler, index: int, coordinate: int, scale: float) -> Line:
    """The line along one real coordinate of primal `index`."""
    primals = list(sampler.primals)
    here = real_view(primals[index])[coordinate]

    def move(t: float) -> tuple[float, Point]:
        moved = primals[index].copy()
        flat = real_view(moved)
        before = float(flat[coordinate])
        flat[coordinate] += t
        # What was asked for may have been rounded; a quotient divided by `t` would be off by that.
        return float(flat[coordinate]) - before, _replaced(primals, index, moved)

    # Zero has no spacing but that of subnormal numbers, which no output would notice.
    resolution = float(np.spacing(np.abs(here))) if here else scale * epsilon(here.dtype) / 16
    return Line(sampler, move, scale, resolution, own_scale=float(np.abs(here)) or None)


def part_line(
    sampler: Sampler, index: int, along: Callable[[slice], FloatArray], scale: float, eps: float
) -> Line:
    """The line along a direction of primal `index`, of which `along` gives parts.

    `eps` is the relative resolution of the primal.
    """
    primals = list(sampler.primals)

    def move(t: float) -> tuple[float, Point]:
        moved = primals[index].copy()
        flat = real_view(moved)
        # By parts: a whole direction of a large primal would double the memory.
        for part in parts(flat.size):
            flat[part] += t * along(part)
        return t, _replaced(primals, index, moved)

    return Line(sampler, move, scale, eps * scale)


def _replaced(primals: list[Array], index: int, primal: Array) -> list[Array]:
    return [*primals[:index], primal, *primals[index + 1 :]]


def sample(places: Sequence[tuple[Line, float]]) -> list[tuple[float, FloatArray]]:
    """Return `Line.at` for each of `places`; all lines are of one sampler."""
    if not places or places[0][0].known is None:
        return _evaluated(places)
    asked = [(line, t, line.known) for line, t in places if line.known is not None]
    new = [(line, t) for line, t, known in asked if t not in known]
    found = iter(_evaluated(new))
    for _, t, known in asked:
        if t not in known:
            known[t] = next(found)
    return [known[t] for _, t, known in asked]


def _evaluated(places: Sequence[tuple[Line, float]]) -> list[tuple[float, FloatArray]]:
    distances: list[float] = []

    def points() -> Iterator[Point]:
        for line, t in places:
            distance, point = line.move(t)
            distances.append(distance)
            yield point

    values = list(places[0][0].sampler.at_many(points(), len(places))) if places else []
    return list(zip(distances, values, strict=True))


class Differences(msgspec.Struct, frozen=True):
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
    pairs = zip(lines, steps, strict=True)
    places = [(line, sign * step) for line, step in pairs for sign in (1.0, -1.0)]
    # Halved, since a line has two places; and in chunks, so that only one chunk's outputs are held.
    count = max(1, lines[0].sampler.most_at_once // 2) if lines else 1
    for start in range(0, len(lines), count):
        found = sample(places[2 * start : 2 * (start + count)])
        gone = np.array([distance for distance, _ in found])[:, None]
        values = np.array([outputs for _, outputs in found])
        ahead, back, plus, minus = gone[::2], gone[1::2], values[::2], values[1::2]
        here, base = slice(start, start + len(plus)), lines[start].base
        with np.errstate(all="ignore"):
            value[:, here] = ((plus - minus) / (ahead - back)).T
            gap[:, here] = np.abs((plus - base) / ahead - (minus - base) / back).T
    return Differences(value, gap, np.asarray(steps, dtype=np.float64))
