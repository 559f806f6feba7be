"""A cheap look at a derivative: one direction, one difference quotient.

It decides nothing; it says where to ask the oracle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.verify.oracle.steps import epsilon, scales
from gradtool.verify.protocol.coordinates import FloatArray, is_continuous, real_view
from gradtool.verify.protocol.differentiable import Differentiable
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.steps import SPOT_CHECK_DIFFERENCE


def looks_wrong(function: Differentiable, primals: Sequence[Array], seed: int) -> bool:
    """Return True if a directional derivative looks different from the vjps.

    Costs one backward and three forwards. Raises what the user's code raises.
    """
    rng = generator(seed, "suspicion")
    base = function.evaluate(primals)
    cotangents = [
        signed(rng, output.shape).astype(output.dtype)
        if output is not None and is_continuous(output.dtype)
        else None
        for output in base
    ]
    directions = _directions(function, primals, rng)
    (gradients,) = function.vjps(primals, [cotangents])
    analytic = sum(
        _dot(gradient, direction)
        for gradient, direction in zip(gradients, directions, strict=True)
        if gradient is not None and direction is not None
    )
    up, down = (_moved(primals, directions, sign) for sign in (1.0, -1.0))
    # `_step` is the distance to each side.
    step = 2 * _step(primals)
    above, below = function.evaluate(up), function.evaluate(down)
    parts = [
        _dot(a, c) - _dot(b, c)
        for a, b, c in zip(above, below, cotangents, strict=True)
        if a is not None and b is not None and c is not None
    ]
    numeric = sum(parts) / step
    return bool(abs(analytic - numeric) > SPOT_CHECK_DIFFERENCE * max(abs(analytic), abs(numeric)))


def _directions(
    function: Differentiable, primals: Sequence[Array], rng: np.random.Generator
) -> list[Array | None]:
    """A random direction for each argument that is differentiated, as large as the argument."""
    directions: list[Array | None] = []
    for argument, primal in zip(function.arguments, primals, strict=True):
        if not argument.differentiable:
            directions.append(None)
            continue
        direction = np.zeros(primal.shape, primal.dtype)
        flat = real_view(direction)
        flat += (signed(rng, flat.shape) * scales(primal)).astype(flat.dtype)
        directions.append(direction)
    return directions


def _moved(
    primals: Sequence[Array], directions: Sequence[Array | None], sign: float
) -> list[Array]:
    step = sign * _step(primals)
    return [
        primal if direction is None else np.asarray(primal + step * direction, primal.dtype)
        for primal, direction in zip(primals, directions, strict=True)
    ]


def _step(primals: Sequence[Array]) -> float:
    precisions = [epsilon(primal.dtype) for primal in primals if is_continuous(primal.dtype)]
    return float(max(precisions, default=0.0) ** (1 / 3))


def _dot(one: Array, other: Array) -> float:
    """The real inner product; of complex numbers that of their parts."""
    first, second = (real_view(np.ascontiguousarray(each)) for each in (one, other))
    return float(np.vdot(_double(first), _double(second)))


def _double(values: Array) -> FloatArray:
    return np.asarray(values, np.float64)
