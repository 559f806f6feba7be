"""The rearrangement of a gradient of the wrong shape that makes it the derivative."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from gradtool.verify.protocol.differentiable import Differentiable
from gradtool.verify.protocol.observation import Array, Cotangents
from gradtool.verify.randomness import generator
from gradtool.verify.thresholds.diagnosis import REFITTED_MOST_AXES, REFITTED_RTOL

Real = NDArray[np.floating]


def refitted(
    function: Differentiable,
    primals: Sequence[Array],
    cotangents: Cotangents,
    argument: int,
    gradient: Array,
    seed: int,
) -> str | None:
    """Find the expression of ``grad`` that is the derivative by one argument.

    Each candidate is compared with central differences along two random directions.

    Args:
        function: The Function.
        primals: Its arguments.
        cotangents: The cotangent of each output that `gradient` belongs to.
        argument: Position among `primals` of the argument.
        gradient: The gradient that backward returned for it, of another shape.
        seed: Seed of the directions.

    Returns:
        Code such as ``grad.T``, or None if no candidate is the derivative.
    """
    primal = primals[argument]
    if not _is_real(primal) or not _is_real(gradient) or gradient.ndim > REFITTED_MOST_AXES:
        return None
    candidates = list(_candidates(gradient, primal.shape))
    if not candidates:
        return None
    rng = generator(seed, "refitted")
    for direction in rng.standard_normal((2, *primal.shape)):
        slope = _slope(function, primals, cotangents, argument, direction)
        candidates = [each for each in candidates if _agrees(each[1], direction, slope)]
    return candidates[0][0] if candidates else None


def _is_real(array: Array) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f"


def _candidates(gradient: Real, shape: tuple[int, ...]) -> Iterator[tuple[str, Real]]:
    """Rearrangements of `gradient` that have the shape, the simplest first."""
    every = (
        *_transposed(gradient),
        *_summed(gradient),
        *_spread(gradient, shape),
        *_reshaped(gradient, shape),
    )
    return ((code, value) for code, value in every if value.shape == shape)


def _transposed(gradient: Real) -> Iterator[tuple[str, Real]]:
    axes = range(gradient.ndim)
    if gradient.ndim == 2:
        yield "grad.T", gradient.T
        return
    for one, other in combinations(axes, 2):
        yield f"grad.transpose({one}, {other})", gradient.swapaxes(one, other)
    for order in permutations(axes):
        yield f"grad.permute{order}", gradient.transpose(order)


def _summed(gradient: Real) -> Iterator[tuple[str, Real]]:
    for count in range(1, gradient.ndim + 1):
        for axes in combinations(range(gradient.ndim), count):
            written = str(axes[0]) if count == 1 else str(axes)
            yield f"grad.sum({written})", gradient.sum(axes)
            yield f"grad.sum({written}, keepdim=True)", gradient.sum(axes, keepdims=True)


def _spread(gradient: Real, shape: tuple[int, ...]) -> Iterator[tuple[str, Real]]:
    """Yield the gradient repeated along axes that forward reduced."""
    expanded = f"expand({', '.join(map(str, shape))})"
    if gradient.ndim == len(shape) or not gradient.ndim:
        yield from _broadcast(f"grad.{expanded}", gradient, shape)
    for axis in range(gradient.ndim + 1):
        if gradient.ndim + 1 == len(shape):
            inserted = np.expand_dims(gradient, axis)
            yield f"grad.unsqueeze({axis})", inserted
            yield from _broadcast(f"grad.unsqueeze({axis}).{expanded}", inserted, shape)


def _broadcast(code: str, value: Real, shape: tuple[int, ...]) -> Iterator[tuple[str, Real]]:
    if all(extent in (1, wanted) for extent, wanted in zip(value.shape, shape, strict=False)):
        yield code, np.broadcast_to(value, shape)


def _reshaped(gradient: Real, shape: tuple[int, ...]) -> Iterator[tuple[str, Real]]:
    if gradient.size == np.prod(shape, dtype=int):
        yield f"grad.reshape({', '.join(map(str, shape))})", gradient.reshape(shape)


def _slope(
    function: Differentiable,
    primals: Sequence[Array],
    cotangents: Cotangents,
    argument: int,
    direction: Real,
) -> float:
    """The derivative of outputs times cotangents along `direction`; NaN where forward fails."""
    primal = primals[argument]
    scale = max(float(np.abs(primal).max(initial=0.0)), 1.0)
    step = float(np.finfo(primal.dtype).eps) ** (1 / 3) * scale
    ahead, behind = (
        _product(function, primals, cotangents, argument, sign * step * direction)
        for sign in (1, -1)
    )
    return float((ahead - behind) / (2 * step))


def _product(
    function: Differentiable,
    primals: Sequence[Array],
    cotangents: Cotangents,
    argument: int,
    change: Real,
) -> float:
    moved = list(primals)
    moved[argument] = (primals[argument] + change).astype(primals[argument].dtype)
    seen = function.call(moved)
    if seen.failure or len(seen.outputs) != len(cotangents):
        return float("nan")
    pairs = zip(seen.outputs, cotangents, strict=True)
    return sum(
        float(np.sum(output * cotangent))
        for output, cotangent in pairs
        if output is not None and cotangent is not None
    )


def _agrees(candidate: Real, direction: Real, slope: float) -> bool:
    terms = candidate * direction
    size = float(np.abs(terms).sum())
    return size > 0 and abs(float(terms.sum()) - slope) <= REFITTED_RTOL * size
