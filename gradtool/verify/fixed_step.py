"""Derivatives by one fixed absolute step, as torch's ``gradcheck`` takes them.

This is what users of ``gradcheck(eps=1e-6)`` ask for by name, faults included: nothing here
adapts the step or estimates an error. The gate uses `gradtool.verify.oracle` instead.
Everything is in real coordinates; see `gradtool.verify.coordinates` for complex numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.verify.coordinates import BoolArray, Coordinates, FloatArray, real_view
from gradtool.verify.jacobian import Evaluate, moved
from gradtool.verify.protocol import Array


def numeric_jacobian(
    evaluate: Evaluate, primals: Sequence[Array], index: int, eps: float
) -> FloatArray:
    """Central differences with step `eps` with respect to primal `index`.

    Args:
        evaluate: Outputs at given primals. What it raises, passes.
        primals: The point. They are not changed.
        index: Which of them is perturbed, one coordinate at a time.
        eps: The absolute step, the same for every coordinate.

    Returns:
        A row for each coordinate of the outputs, a column for each coordinate of the primal.
    """
    outputs = Coordinates(evaluate(primals))
    columns = Coordinates([primals[index]]).size
    jacobian = np.empty((outputs.size, columns))
    for column in range(columns):
        ahead, back = (
            outputs.flatten(evaluate(_perturbed(primals, index, column, step)))
            for step in (eps, -eps)
        )
        jacobian[:, column] = (ahead - back) / (2 * eps)
    return jacobian


def projected_derivative(
    evaluate: Evaluate,
    primals: Sequence[Array],
    directions: Sequence[Array | None],
    eps: float,
) -> FloatArray:
    """The central difference with step `eps` along `directions`, one for each primal.

    Returns:
        One number for each coordinate of the outputs.
    """
    outputs = Coordinates(evaluate(primals))
    ahead, back = (
        outputs.flatten(evaluate(moved(primals, directions, step))) for step in (eps, -eps)
    )
    return (ahead - back) / (2 * eps)


def outside(analytic: FloatArray, numeric: FloatArray, *, atol: float, rtol: float) -> BoolArray:
    """Which entries differ by more than ``atol + rtol * |numeric|``. NaN always does."""
    with np.errstate(all="ignore"):
        close: BoolArray = np.abs(analytic - numeric) <= atol + rtol * np.abs(numeric)
    equal: BoolArray = analytic == numeric
    return ~(close | equal)


def _perturbed(primals: Sequence[Array], index: int, coordinate: int, step: float) -> list[Array]:
    """`primals` with one coordinate of one of them moved by `step`."""
    changed = np.array(primals[index], order="C")
    real_view(changed)[coordinate] += step
    return [*primals[:index], changed, *primals[index + 1 :]]
