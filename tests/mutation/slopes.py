"""Difference quotients of a forward: where the engine cannot differentiate it, and at kinks.

They are made here, of nothing that the checker has, so that they can be held against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tests.mutation.point import Array, Call, Point
from tests.mutation.questions import Row, inner

_RUNGS = 6
_FIRST_STEP = 2.0**-6
"""Of the ladder whose quotients are extrapolated, as a part of the entry."""

_AGREE = 1e-2
"""One-sided slopes closer than this part of themselves are equal."""

_NOISE = 64
"""Rounding errors of an output that its quotients are allowed."""


@dataclass(frozen=True)
class Kinks:
    """For each row of cotangents and each input both slopes where they differ, elsewhere NaN."""

    left: list[list[Array]]
    right: list[list[Array]]

    @property
    def any(self) -> bool:
        return any(np.isfinite(array).any() for row in self.left for array in row)


def derivative(call: Call, point: Point, rows: Sequence[Row]) -> list[list[Array]]:
    """The gradient of each row's weighted sum of outputs, by extrapolated central quotients."""
    found = _like(point, rows, 0.0)
    for number, index, direction in _entries(point):
        scale = abs(point.values[number][index]) or 1.0
        steps = [scale * _FIRST_STEP * 2.0**-k for k in range(_RUNGS)]
        moved = [_both(call, point, number, index, h * direction) for h in steps]
        for at, row in enumerate(rows):
            quotients = [
                (inner(row, up) - inner(row, down)) / (2 * h)
                for h, (up, down) in zip(steps, moved, strict=True)
            ]
            found[at][number][index] += _extrapolated(quotients) * direction
    return found


def kinks(call: Call, point: Point, rows: Sequence[Row]) -> Kinks:
    """Where the slopes from both sides are settled, and differ."""
    left, right = _like(point, rows, np.nan), _like(point, rows, np.nan)
    base = point.outputs(call)
    for number, index, direction in _entries(point):
        value = point.values[number]
        step = (abs(value[index]) or 1.0) * np.sqrt(np.finfo(value.dtype).eps)
        near = _both(call, point, number, index, step * direction)
        far = _both(call, point, number, index, 2 * step * direction)
        for at, row in enumerate(rows):
            middle = inner(row, base)
            noise = _noise(row, base) / step
            ups = [(inner(row, o[0]) - middle) / (h * step) for h, o in ((1, near), (2, far))]
            downs = [(middle - inner(row, o[1])) / (h * step) for h, o in ((1, near), (2, far))]
            if _settled(ups, noise) and _settled(downs, noise) and not _same(ups, downs, noise):
                left[at][number][index], right[at][number][index] = downs[0], ups[0]
    return Kinks(left, right)


def _like(point: Point, rows: Sequence[Row], value: float) -> list[list[Array]]:
    kinds = [np.result_type(each, np.float64) for each in point.values]
    return [
        [np.full(each.shape, value, kind) for each, kind in zip(point.values, kinds, strict=True)]
        for _ in rows
    ]


def _entries(point: Point) -> Iterator[tuple[int, tuple[int, ...], complex]]:
    """Every entry of every input, once for each real direction it can go in."""
    for number, value in enumerate(point.values):
        for index in np.ndindex(value.shape):
            yield number, index, 1.0
            if value.dtype.kind == "c":
                yield number, index, 1j


def _both(
    call: Call, point: Point, number: int, index: tuple[int, ...], step: complex
) -> tuple[Row, Row]:
    """The outputs a step up and a step down."""
    found = []
    for signed in (step, -step):
        values = [each.copy() for each in point.values]
        values[number][index] += signed
        found.append(point.outputs(call, values))
    return found[0], found[1]


def _extrapolated(quotients: list[Array]) -> float:
    """Richardson's table for a step that halves; its entry of least change."""
    row = [float(each) for each in quotients]
    best, least = row[-1], np.inf
    power = 4.0
    while len(row) > 1:
        better = [(power * b - a) / (power - 1) for a, b in pairwise(row)]
        changes = [abs(new - old) for new, old in zip(better, row[1:], strict=True)]
        at = int(np.argmin(changes))
        if changes[at] < least:
            best, least = better[at], changes[at]
        row, power = better, power * 4
    return best


def _noise(row: Row, base: Row) -> float:
    sizes = [
        float(np.sum(np.abs(a) * np.abs(b))) * float(np.finfo(b.dtype).eps)
        for a, b in zip(row, base, strict=True)
        if a is not None and b is not None and b.dtype.kind in "fc"
    ]
    return _NOISE * sum(sizes)


def _settled(slopes: list[Array], noise: float) -> bool:
    return bool(abs(slopes[0] - slopes[1]) <= _AGREE * abs(slopes[0]) + noise)


def _same(ups: list[Array], downs: list[Array], noise: float) -> bool:
    size = max(abs(ups[0]), abs(downs[0]))
    return bool(abs(ups[0] - downs[0]) <= 3 * (_AGREE * size + noise))
