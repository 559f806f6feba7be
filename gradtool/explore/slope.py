"""The slope along a random direction by evaluations, where forward has no exact derivative.

Forward may leave the engine, as through NumPy, or divide by the difference of equal eigenvalues
although what it computes is smooth. A few evaluations show a wrong gradient there too, roughly: a
full check decides.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.verify.protocol.observation import Array, Cotangents
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.comparison import DOUBLE_EPS

_STEPS = (2.0**-11, 2.0**-12)
"""Steps, in units of an argument's size."""

_SHORT_STEP = 2.0**-21
"""A step on whose way few entries of many change places, as those of a sort do on longer ones."""

_DIFFERENCE = 1e-3
"""Part of the terms of a slope that a mistake changes at least."""

_ERRORS = 10.0
"""Estimated errors of a slope that may be in a difference."""

_ROUNDINGS = 1e2

_SHRINKING_OF_SIDES = 0.75
"""Part of a difference of slopes that is left for half the step: curvature leaves half of it, and
``abs(x) ** 1.5`` at zero less than three quarters."""

_GROWTH = 1.1
"""Slope over half the step, next to that over the whole, beyond which it has no limit."""

_BESIDE = (2.0**-30, 2.0**-40)
"""Distances of points right beside one, in units of an argument's size."""

_LEAST_JUMP = 1e-6
"""Part of an output that it jumps by at least."""

_DIFFERENCE_OF_SIDES = 0.02
"""Part of a slope by which those to either side may differ, as curvature makes them."""


def has_other_slope(
    function: FunctionDifferentiable,
    cotangents: Cotangents,
    gradients: Sequence[Array | None],
    seed: int,
    floor: float,
    *,
    is_at_limit: bool = False,
) -> bool:
    """Return True if evaluations have another slope than gradients in double precision.

    Each entry of a gradient may be wrong by `floor`. None leaves an argument out. At a limit a
    short step shows the slope of the formula for it alone.
    """
    directions = [
        _direction(primal, gradient, seed + place)
        for place, (primal, gradient) in enumerate(zip(function.primals, gradients, strict=True))
    ]
    terms = [
        float((gradient * along).sum())
        for gradient, along in zip(gradients, directions, strict=True)
        if gradient is not None and along is not None
    ]
    sizes = sum(
        float(np.abs(gradient * along).sum())
        for gradient, along in zip(gradients, directions, strict=True)
        if gradient is not None and along is not None
    )
    if not terms:
        return False
    roundings = floor * sum(float(np.abs(each).sum()) for each in directions if each is not None)
    (coarse, _), (fine, noise) = (_slope(function, cotangents, directions, step) for step in _STEPS)
    error = abs(fine - coarse) + noise
    allowed = _DIFFERENCE * max(sizes, abs(fine)) + _ERRORS * error + roundings
    is_off = not abs(fine - sum(terms)) <= allowed
    if not is_off or is_at_limit:
        return is_off
    short, _ = _slope(function, cotangents, directions, _SHORT_STEP)
    return not abs(short - sum(terms)) <= _DIFFERENCE * sizes + roundings


def is_smooth(
    function: FunctionDifferentiable,
    cotangents: Cotangents,
    gradients: Sequence[Array | None],
    seed: int,
) -> bool:
    """Return True if slopes to either side agree and do not grow, so that there is a derivative.

    The direction is along the entries whose gradient is not finite.
    """
    found = _slopes_of_sides(function, cotangents, gradients, seed)
    if found is None:
        return False
    right, left = found
    slopes = [*right, *left]
    size = max(map(abs, slopes))
    spread = max(slopes) - min(slopes)
    coarse, fine = (abs(one - other) for one, other in zip(right, left, strict=True))
    is_same = spread <= _DIFFERENCE_OF_SIDES * size or fine < _SHRINKING_OF_SIDES * coarse
    return bool(is_same) and _have_limits(right, left)


def has_slopes(
    function: FunctionDifferentiable,
    cotangents: Cotangents,
    gradients: Sequence[Array | None],
    seed: int,
) -> bool:
    """Return True if slopes to either side do not grow, as at the edge of an absolute value.

    The direction is along the entries whose gradient is not finite.
    """
    found = _slopes_of_sides(function, cotangents, gradients, seed)
    return found is not None and _have_limits(*found)


def _have_limits(right: Sequence[float], left: Sequence[float]) -> bool:
    """Return True for slopes over two steps that do not grow as those of a root do.

    Of a curve one side may: the mean of both does not, and what is between them shrinks.
    """
    coarse, fine = zip(right, left, strict=True)
    grown = max(
        abs(combine(*fine)) - _GROWTH * abs(combine(*coarse))
        for combine in (operator.add, operator.sub)
    )
    slopes = [*right, *left]
    largest = 2 * max(map(abs, slopes))
    return bool(np.isfinite(slopes).all()) and grown <= _DIFFERENCE_OF_SIDES * largest


def _slopes_of_sides(
    function: FunctionDifferentiable,
    cotangents: Cotangents,
    gradients: Sequence[Array | None],
    seed: int,
) -> tuple[list[float], list[float]] | None:
    """The slopes to the right and to the left over each step; None without a direction."""
    directions = [
        None
        if gradient is None or np.isfinite(gradient).all()
        else _along_bad_entries(primal, gradient, seed + place)
        for place, (primal, gradient) in enumerate(zip(function.primals, gradients, strict=True))
    ]
    if all(each is None for each in directions):
        return None
    at, above, below = (
        [_value(function, cotangents, directions, side * step) for step in _STEPS]
        for side in (0.0, 1.0, -1.0)
    )
    right = [(one - zero) / step for one, zero, step in zip(above, at, _STEPS, strict=True)]
    left = [(zero - one) / step for one, zero, step in zip(below, at, _STEPS, strict=True)]
    return right, left


def jumps(function: FunctionDifferentiable, cotangents: Cotangents, seed: int) -> bool:
    """Return True if the outputs are others right beside the point, which has no derivative."""
    directions = [
        _to_all_sides(primal, seed + place) if argument.differentiable else None
        for place, (argument, primal) in enumerate(
            zip(function.arguments, function.primals, strict=True)
        )
    ]
    try:
        at, far, near = (_value(function, cotangents, directions, step) for step in (0.0, *_BESIDE))
    except Exception:  # The user's code may raise anything.
        return False
    change = abs(near - at)
    return change > _LEAST_JUMP * max(abs(at), abs(far)) and change > abs(far - at) / 2


def _to_all_sides(primal: Array, seed: int) -> Array | None:
    """A direction of the size of an argument, with an imaginary part where that is complex."""
    if primal.dtype not in (np.float64, np.complex128) or not primal.size:
        return None
    rng, size = generator(seed, "beside"), np.abs(primal).max() or 1.0
    along = signed(rng, primal.shape) * size
    return along if primal.dtype == np.float64 else along + 1j * signed(rng, primal.shape) * size


def _direction(primal: Array, gradient: Array | None, seed: int) -> Array | None:
    if gradient is None or primal.dtype != np.float64 or not primal.size:
        return None
    size = float(np.abs(primal).max())
    return np.asarray(signed(generator(seed, "slope"), primal.shape) * (size or 1.0))


def _along_bad_entries(primal: Array, gradient: Array, seed: int) -> Array | None:
    direction = _direction(primal, gradient, seed)
    return None if direction is None else direction * ~np.isfinite(gradient)


def _slope(
    function: FunctionDifferentiable,
    cotangents: Cotangents,
    directions: Sequence[Array | None],
    step: float,
) -> tuple[float, float]:
    """The difference quotient from both sides, and the noise in it."""
    above, below = (_value(function, cotangents, directions, side * step) for side in (1, -1))
    noise = _ROUNDINGS * DOUBLE_EPS * max(abs(above), abs(below)) / step
    return (above - below) / (2 * step), noise


def _value(
    function: FunctionDifferentiable,
    cotangents: Cotangents,
    directions: Sequence[Array | None],
    step: float,
) -> float:
    """The sum of the outputs, weighted by the cotangents, at a step from the point."""
    point = [
        primal if along is None else primal + step * along
        for primal, along in zip(function.primals, directions, strict=True)
    ]
    outputs = function.evaluate(point)
    return sum(
        float((cotangent.conj() * output).sum().real)
        for cotangent, output in zip(cotangents, outputs, strict=True)
        if cotangent is not None and output is not None
    )
