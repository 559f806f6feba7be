"""How far to go along a direction: a length that fulfils the strong Wolfe conditions.

Bracketing and zooming in by cubic interpolation are those of Nocedal and Wright, Numerical
Optimization, section 3.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from gradtool.engine._tensor import Tensor

Evaluate = Callable[[float], tuple[float, Tensor]]

_DECREASE, _CURVATURE = 1e-4, 0.9
_TOLERANCE = 1e-9
_MOST = 25
"""Evaluations."""


class _Point(NamedTuple):
    length: float
    loss: float
    grad: Tensor
    slope: float


def strong_wolfe(
    at: Evaluate, length: float, direction: Tensor, loss: float, grad: Tensor, slope: float
) -> tuple[float, Tensor, float, int]:
    """The loss and gradient at the length found, the length, and how many evaluations it took."""
    start = _Point(0.0, loss, grad, slope)
    scale = float(direction.abs().max())

    def point(distance: float) -> _Point:
        found, slopes = at(distance)
        return _Point(distance, found, slopes, float(slopes.dot(direction)))

    bracket, used = _bracketed(point, start, length)
    if len(bracket) == 2:
        bracket, used = _zoomed(point, start, bracket, used, scale)
    best = min(bracket, key=lambda each: each.loss)
    return best.loss, best.grad, best.length, used


def _too_high(point: _Point, start: _Point) -> bool:
    return point.loss > start.loss + _DECREASE * point.length * start.slope


def _bracketed(
    point: Callable[[float], _Point], start: _Point, length: float
) -> tuple[list[_Point], int]:
    """One point that will do, or two with one between them."""
    before, now, used = start, point(length), 1
    for number in range(_MOST):
        if _too_high(now, start) or (number > 0 and now.loss >= before.loss):
            return [before, now], used
        if abs(now.slope) <= -_CURVATURE * start.slope:
            return [now], used
        if now.slope >= 0:
            return [before, now], used
        least = now.length + 0.01 * (now.length - before.length)
        following = _cubic(before, now, (least, now.length * 10))
        before, now, used = now, point(following), used + 1
    return [start, now], used


def _zoomed(
    point: Callable[[float], _Point], start: _Point, bracket: list[_Point], used: int, scale: float
) -> tuple[list[_Point], int]:
    """Narrow two points down until one will do, or they are too near."""
    low, high = sorted(bracket, key=lambda each: each.loss)
    stuck = False
    while used < _MOST and abs(high.length - low.length) * scale >= _TOLERANCE:
        ends = sorted((low.length, high.length))
        length, stuck = _kept_inside(_cubic(low, high, None), ends, stuck)
        now, used = point(length), used + 1
        if _too_high(now, start) or now.loss >= low.loss:
            low, high = sorted((low, now), key=lambda each: each.loss)
            continue
        if abs(now.slope) <= -_CURVATURE * start.slope:
            return [now], used
        if now.slope * (high.length - low.length) >= 0:
            high = low
        low = now
    return [low, high], used


def _kept_inside(length: float, ends: list[float], stuck: bool) -> tuple[float, bool]:
    """Away from the ends, where the interpolation makes too little progress twice."""
    margin = 0.1 * (ends[1] - ends[0])
    if min(ends[1] - length, length - ends[0]) >= margin:
        return length, False
    if not stuck and ends[0] < length < ends[1]:
        return length, True
    nearer_end = abs(length - ends[1]) < abs(length - ends[0])
    return (ends[1] - margin if nearer_end else ends[0] + margin), False


def _cubic(a: Any, b: Any, bounds: tuple[float, float] | None) -> float:
    """Where the cubic through two points with their slopes is least, within bounds."""
    left, right = sorted((a.length, b.length)) if bounds is None else bounds
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length)
    square = mean**2 - a.slope * b.slope
    if square < 0:
        return (left + right) / 2
    first, last = sorted((a, b), key=lambda each: each.length)
    root = math.sqrt(square)
    share = (last.slope + root - mean) / (last.slope - first.slope + 2 * root)
    length = last.length - (last.length - first.length) * share
    return float(min(max(length, left), right))


__all__ = ["strong_wolfe"]
