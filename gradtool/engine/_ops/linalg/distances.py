"""Distances by p-norm, slices scaled down to a norm, and both extremes at once."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.core import return_types
from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.reductions.extremum import amax, amin
from gradtool.engine._ops.reductions.norm import norm
from gradtool.engine._tensor import Tensor

_SLACK = 1e-7
"""What PyTorch adds to a norm before it divides by it."""


def dist(x: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of the difference of all elements."""
    return norm(x - other, p)


def renorm(x: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Each slice along a dimension, scaled down where its p-norm is larger than `maxnorm`.

    Raises:
        RuntimeError: the tensor has fewer than two dimensions, or a number is not positive.
    """
    if p <= 0:
        raise RuntimeError("non-positive-norm not supported")
    if x.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {x.ndim} dimensions")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    dim = wrap_dim(dim, x.ndim)
    size = norm(x, p, [each for each in range(x.ndim) if each != dim], keepdim=True)
    scale = maxnorm / (size + _SLACK)
    return x * scale.masked_fill(size <= maxnorm, 1)


def aminmax(x: Tensor, *, dim: Any = None, keepdim: bool = False) -> return_types.aminmax:
    """The smallest and the largest element, of all or along a dimension."""
    dims: Any = () if dim is None else dim
    return return_types.aminmax(amin(x, dims, keepdim), amax(x, dims, keepdim))


__all__ = ["aminmax", "dist", "renorm"]
