"""Derivatives by one fixed absolute step, as torch's ``gradcheck`` takes them.

Users of ``gradcheck(eps=1e-6)`` ask for exactly this, faults included: nothing here adapts the
step or estimates an error. The checker itself uses `gradtool.verify.oracle.oracle`. Everything is
in real coordinates; see `gradtool.verify.protocol.coordinates` for complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradtool.verify.oracle.sampler import Evaluate, moved
from gradtool.verify.protocol.coordinates import BoolArray, Coordinates, FloatArray, real_view
from gradtool.verify.protocol.observation import Array
from gradtool.verify.thresholds.effort import COMPARED_ENTRIES_AT_ONCE

EvaluateMany = Callable[[Array], Sequence[Array | None]]
"""Outputs where one primal takes many values, along its first dimension and then theirs."""


def numeric_jacobian(
    evaluate: Evaluate, primals: Sequence[Array], index: int, eps: float
) -> FloatArray:
    """Central differences with step `eps` with respect to primal `index`.

    Args:
        evaluate: Outputs at given primals. Its exceptions pass.
        primals: The point. They are not changed.
        index: The primal to perturb, one coordinate at a time.
        eps: The absolute step, the same for every coordinate.

    Returns:
        A row for each coordinate of the outputs, a column for each coordinate of the primal.
    """
    outputs = Coordinates(evaluate(primals))
    columns = range(Coordinates([primals[index]]).size)
    return numeric_columns(evaluate, outputs, primals, index, eps, columns)


def numeric_columns(
    evaluate: Evaluate,
    outputs: Coordinates,
    primals: Sequence[Array],
    index: int,
    eps: float,
    columns: Sequence[int],
) -> FloatArray:
    """Some columns of `numeric_jacobian`, for outputs of a known layout."""
    jacobian = np.empty((outputs.size, len(columns)))
    for place, column in enumerate(columns):
        ahead, back = (
            outputs.flatten(evaluate(_perturbed(primals, index, column, step)))
            for step in (eps, -eps)
        )
        jacobian[:, place] = (ahead - back) / (2 * eps)
    return jacobian


def write_columns_at_once(
    jacobian: FloatArray,
    evaluate_many: EvaluateMany,
    outputs: Coordinates,
    primal: Array,
    eps: float,
    columns: range,
) -> None:
    """Write some columns to `jacobian`, all points in one evaluation.

    Exceptions of `evaluate_many` pass.
    """
    count = len(columns)
    points = np.empty((2, count, *primal.shape), primal.dtype)
    # Filled by broadcasting: np.stack would need a list of as many copies first.
    points[...] = primal
    flat = real_view(points).reshape(2, count, -1)
    flat[0, range(count), columns] += eps
    flat[1, range(count), columns] -= eps
    found = evaluate_many(points.reshape(2 * count, *primal.shape))
    ahead, back = outputs.flatten_many(found, 2 * count).reshape(2, count, outputs.size)
    # In place: these are as large as the part of the Jacobian itself.
    ahead -= back
    ahead /= 2 * eps
    jacobian[:, columns.start : columns.stop] = ahead.T


def projected_derivative(
    evaluate: Evaluate,
    outputs: Coordinates,
    primals: Sequence[Array],
    directions: Sequence[Array | None],
    eps: float,
) -> FloatArray:
    """The central difference with step `eps` along `directions`, one for each primal.

    Returns:
        One number for each coordinate of the outputs, whose layout is `outputs`.
    """
    ahead, back = (
        outputs.flatten(evaluate(moved(primals, directions, step))) for step in (eps, -eps)
    )
    return (ahead - back) / (2 * eps)


def outside(analytic: FloatArray, numeric: FloatArray, *, atol: float, rtol: float) -> BoolArray:
    """Flag entries that differ by more than ``atol + rtol * |numeric|``. NaN always does."""
    far = np.empty(analytic.shape, dtype=bool)
    # Temporaries of the comparison would otherwise be several times the size of the Jacobian.
    step = max(1, COMPARED_ENTRIES_AT_ONCE // max(1, analytic.shape[1]))
    for start in range(0, len(analytic), step):
        part = slice(start, start + step)
        far[part] = _far(analytic[part], numeric[part], atol, rtol)
    return far


def _far(analytic: FloatArray, numeric: FloatArray, atol: float, rtol: float) -> BoolArray:
    with np.errstate(all="ignore"):
        # Not `>`: NaN compares false with everything, and must count as far.
        far: BoolArray = ~(np.abs(analytic - numeric) <= atol + rtol * np.abs(numeric))
    # Equal infinities differ by NaN.
    return far & (analytic != numeric) if far.any() else far


def _perturbed(primals: Sequence[Array], index: int, coordinate: int, step: float) -> list[Array]:
    """`primals` with one coordinate of one of them moved by `step`."""
    # In C order, so that `real_view` is a view: a reshape of anything else writes to a copy.
    changed = np.array(primals[index], order="C")
    real_view(changed)[coordinate] += step
    return [*primals[:index], changed, *primals[index + 1 :]]
