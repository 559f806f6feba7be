"""The gradient of a function that is given by its values on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dims import as_ints, wrap_dims
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor


@op
def gradient(
    input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """The derivative along each dimension, by differences of neighbours.

    At the ends they are of the order `edge_order`, elsewhere of the second.

    `spacing` is the distance of the points, one for all dimensions or one each, or a vector of
    their coordinates for each.

    Raises:
        RuntimeError: the spacing does not fit the dimensions, or there are too few points.
    """
    dims = wrap_dims(range(input.ndim) if dim is None else as_ints(dim), input.ndim)
    steps = _one_for_each(1 if spacing is None else spacing, len(dims), input.ndim, dim)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(input.shape[each] <= edge_order for each in dims if input.ndim):
        raise RuntimeError(
            "torch.gradient expected each dimension size to be at least edge_order+1"
        )
    if input.ndim == 0:
        return ()
    if input.dtype is _dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    return tuple(
        [_along(input, each, step, edge_order) for each, step in zip(dims, steps, strict=True)]
    )


def _one_for_each(spacing: Any, count: int, ndim: int, dim: Any) -> Sequence[Any]:
    if not isinstance(spacing, tuple | list):
        return [spacing] * count
    if len(spacing) == count:
        return spacing
    if dim is None:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to 'self.dim() = {ndim}', since dim argument was not given, but got a list "
            f"of length {len(spacing)}"
        )
    raise RuntimeError(
        "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
        f"arguments to have the same length, but got a spacing argument of length {len(spacing)} "
        f"and a dim argument of length {count}."
    )


def _along(x: Tensor, dim: int, step: Any, edge_order: int) -> Tensor:
    if isinstance(step, Tensor) and step.ndim:
        return _uneven(x, dim, step, edge_order)
    last = x.shape[dim] - 1
    inner = (x.narrow(dim, 2, last - 1) - x.narrow(dim, 0, last - 1)) / (step * 2)
    if edge_order == 1:
        first = (x.narrow(dim, 1, 1) - x.narrow(dim, 0, 1)) / step
        final = (x.narrow(dim, last, 1) - x.narrow(dim, last - 1, 1)) / step
    else:
        first = _parabola(x, dim, (0, 1, 2)) / (step * 2)
        final = -_parabola(x, dim, (last, last - 1, last - 2)) / (step * 2)
    return cat([first, inner, final], dim)


def _parabola(x: Tensor, dim: int, places: tuple[int, int, int]) -> Tensor:
    """Twice the slope at the first of three evenly spaced points."""
    at, near, far = [x.narrow(dim, place, 1) for place in places]
    slope: Tensor = 4 * near - 3 * at - far
    return slope


def _uneven(x: Tensor, dim: int, points: Tensor, edge_order: int) -> Tensor:
    """Weights of three neighbours, by the two distances between them."""
    last = x.shape[dim] - 1
    gaps = points.diff().reshape(-1, *[1] * (x.ndim - 1 - dim))
    left, right = gaps.narrow(0, 0, last - 1), gaps.narrow(0, 1, last - 1)
    inner = (
        x.narrow(dim, 0, last - 1) * (-right / (left * (left + right)))
        + x.narrow(dim, 1, last - 1) * ((right - left) / (left * right))
        + x.narrow(dim, 2, last - 1) * (left / (right * (left + right)))
    )
    first = _end(x, dim, (0, 1, 2), gaps, (0, 1), edge_order)
    final = -_end(x, dim, (last, last - 1, last - 2), gaps, (last - 1, last - 2), edge_order)
    return cat([first, inner, final], dim)


def _end(
    x: Tensor, dim: int, places: tuple[int, int, int], gaps: Tensor, at: tuple[int, int], order: int
) -> Tensor:
    """The slope at the first of the places, towards the others."""
    near = gaps.narrow(0, at[0], 1)
    if order == 1:
        slope: Tensor = (x.narrow(dim, places[1], 1) - x.narrow(dim, places[0], 1)) / near
        return slope
    far = gaps.narrow(0, at[1], 1)
    both = near + far
    weights = (-(near + both) / (near * both), both / (near * far), -near / (far * both))
    first, second, third = [
        x.narrow(dim, place, 1) * weight for place, weight in zip(places, weights, strict=True)
    ]
    return first + second + third
