"""Differences of neighbours, and integrals by the trapezoidal rule, which average them."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.core.claims import NUMBERS
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.unsupported import takes
from gradtool.engine._ops.reductions.reducing import numpy_names
from gradtool.engine._ops.reductions.scan import cumsum
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor


@numpy_names
def diff(
    x: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Each element less the one before it, `n` times over; of booleans whether they differ.

    Raises:
        RuntimeError: the tensor is 0-d, or `n` is negative.
    """
    if x.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = wrap_dim(dim, x.ndim)
    if n == 0:
        return x.clone()
    parts = [each for each in (prepend, x, append) if each is not None]
    joined = cat(parts, dim) if len(parts) > 1 else x
    for _ in range(n):
        joined = _neighbours(joined, dim)
    return joined


def _neighbours(x: Tensor, dim: int) -> Tensor:
    rest = max(x.shape[dim] - 1, 0)
    later, earlier = x.narrow(dim, x.shape[dim] - rest, rest), x.narrow(dim, 0, rest)
    return later ^ earlier if x._array.dtype.kind == "b" else later - earlier


@takes(NUMBERS, "trapezoid")
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral of the straight lines between points, `dx` or the differences of `x` apart."""
    dim = wrap_dim(dim, y.ndim)
    return _areas(y, x, dx, dim).sum(dim)


@takes(NUMBERS, "cumulative_trapezoid")
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1
) -> Tensor:
    """`trapezoid` up to each point but the first."""
    dim = wrap_dim(dim, y.ndim)
    return cumsum(_areas(y, x, dx, dim), dim)


def _areas(y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Tensor:
    """What lies between each pair of neighbours."""
    rest = max(y.shape[dim] - 1, 0)
    heights = (y.narrow(dim, y.shape[dim] - rest, rest) + y.narrow(dim, 0, rest)) / 2
    if x is None:
        return heights if dx is None else heights * dx
    if x.ndim == 1:
        return heights * diff(x).reshape(-1, *[1] * (y.ndim - 1 - dim))
    return heights * diff(x, dim=dim - y.ndim)


trapz = trapezoid

__all__ = ["cumulative_trapezoid", "diff", "trapezoid", "trapz"]
