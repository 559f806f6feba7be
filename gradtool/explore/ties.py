"""Entries that are equal: together they must have the slope of moving all of them at once.

Where a maximum is taken by several entries each may get any share of its gradient, and no share is
righter than another. But the shares add up to one: along the direction that moves all of them
alike the function is smooth, and the gradient along it is its slope. So a gradient lies in the
convex hull of the one-sided derivatives.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.explore.point import Point, Variant
from gradtool.explore.traits import is_integral, traits
from gradtool.verify.protocol.observation import Array, Cotangents
from gradtool.verify.thresholds.comparison import DOUBLE_EPS

_STEP = 2.0**-17
"""Step, in units of an argument's size."""

_SMALLEST, _LARGEST = 1e-3, 1e3
"""Sizes between which a step of one size suits all entries."""

_ROUNDINGS = 1e3
"""Roundings of the outputs that may be in a difference."""

_DIFFERENCE = 1e-3
"""Part of a slope that a mistake changes at least: a share of a maximum is a half or more."""


def ties(point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants with equal entries: the two largest or smallest along an axis, or a pair."""
    movable = [at for at, array in point.continuous() if at in point.tracked and _may_tie(array)]
    for at in movable:
        for axis in dict.fromkeys((point.values[at].ndim - 1, 0)):
            for largest in (True, False):
                yield from _extremes(point, at, axis, rng, largest=largest)
    for one, other in itertools.pairwise(movable):
        if point.values[one].shape == point.values[other].shape:
            yield _pairs(point, one, other, rng)


def _may_tie(array: Array) -> bool:
    if array.dtype.kind != "f" or is_integral(array) or traits(array):
        return False
    size = np.abs(array)
    return bool(size.min(initial=1.0) > _SMALLEST and size.max(initial=1.0) < _LARGEST)


def _extremes(
    point: Point, at: int, axis: int, rng: np.random.Generator, *, largest: bool
) -> Iterator[Variant]:
    array = point.values[at]
    if array.ndim == 0 or array.shape[axis] < 2:
        return
    order = np.argsort(array, axis=axis)
    chosen = np.take(order, [-1, -2] if largest else [0, 1], axis=axis)
    tied, along = array.copy(), np.zeros_like(array)
    extreme = np.take_along_axis(array, np.take(chosen, [0], axis=axis), axis=axis)
    np.put_along_axis(tied, chosen, extreme, axis=axis)
    weight = rng.choice([-1.0, 1.0], extreme.shape) * rng.uniform(0.5, 1.5, extreme.shape)
    np.put_along_axis(along, chosen, weight.astype(array.dtype), axis=axis)
    word = "largest" if largest else "smallest"
    change = f"the two {word} entries of `{point.names[at]}` along axis {axis} are equal"
    yield Variant(point.having({at: tied}), change, along={at: along})


def _pairs(point: Point, one: int, other: int, rng: np.random.Generator) -> Variant:
    array = point.values[one]
    along = rng.choice([-1.0, 1.0], array.shape).astype(array.dtype)
    change = f"`{point.names[one]}` and `{point.names[other]}` are equal"
    equal = {other: array.astype(point.values[other].dtype)}
    return Variant(point.having(equal), change, along={one: along, other: along})


@dataclass(frozen=True)
class Slopes:
    """The slope along a direction: by the gradient, and by evaluations."""

    analytic: float
    numeric: float


def wrong_slope(
    function: FunctionDifferentiable,
    along: Mapping[int, Array],
    cotangents: Cotangents,
    gradients: Sequence[Array | None],
    exact: Sequence[Array | None],
) -> Slopes | None:
    """The slopes along the direction where they differ; None where they agree, or at a kink.

    Evaluations must have the slope of the `exact` gradient, which may be any of those at a tie.
    """
    directions = [along.get(each.position) for each in function.arguments]
    analytic, size = _along(directions, gradients)
    expected, _ = _along(directions, exact)
    for step in (_STEP, _STEP / 8):
        right, left, noise = _slopes(function, directions, cotangents, step)
        allowed = _DIFFERENCE * max(size, abs(right), abs(left)) + noise
        numeric = (right + left) / 2
        is_smooth = abs(right - left) <= allowed and abs(numeric - expected) <= allowed
        if not is_smooth or abs(numeric - analytic) <= allowed:
            return None
    return Slopes(analytic, expected)


def _along(
    directions: Sequence[Array | None], gradients: Sequence[Array | None]
) -> tuple[float, float]:
    """The slope by some gradients, and the size of its terms."""
    terms = [
        gradient * direction
        for gradient, direction in zip(gradients, directions, strict=True)
        if gradient is not None and direction is not None
    ]
    slope = sum(float(term.sum()) for term in terms)
    return slope, sum(float(np.abs(term).sum()) for term in terms)


def _slopes(
    function: FunctionDifferentiable,
    directions: Sequence[Array | None],
    cotangents: Cotangents,
    step: float,
) -> tuple[float, float, float]:
    """The slopes to the right and to the left, and the noise in them."""

    def value(sign: float) -> tuple[float, float]:
        point = [
            primal if along is None else primal + sign * step * along
            for primal, along in zip(function.primals, directions, strict=True)
        ]
        return _along(cotangents, function.evaluate(point))

    (above, size), (here, _), (below, _) = value(1.0), value(0.0), value(-1.0)
    noise = _ROUNDINGS * DOUBLE_EPS * size / step
    return (above - here) / step, (here - below) / step, noise
