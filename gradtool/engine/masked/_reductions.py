"""Sums, products, extremes and norms of the elements that a mask lets through."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.elementwise import powers
from gradtool.engine._ops.linalg import norms
from gradtool.engine._ops.reductions import cumulative, extremum, reduction, softmax
from gradtool.engine._tensor import Tensor
from gradtool.engine.masked._mask import filled, greatest, least, sorted_dims

_NARROW = (_dtypes.uint8, _dtypes.bool_, _dtypes.int8, _dtypes.int16, _dtypes.int32)


def _wide(x: Tensor, dtype: Any) -> Any:
    """The dtype of a sum: the given one, or that of `x`, with room for many of its integers."""
    return dtype or (_dtypes.int64 if x.dtype in _NARROW else x.dtype)


def sum(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The sum over some dimensions; zero where everything is masked out."""
    dims = sorted_dims(dim, input.ndim)
    found: Tensor = reduction.sum(
        filled(input, mask, 0), dims, bool(keepdim), dtype=_wide(input, dtype)
    )
    return found


def prod(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The product over some dimensions; one where everything is masked out."""
    found = filled(input, mask, 1).to(_wide(input, dtype))
    for each in reversed(sorted_dims(dim, input.ndim)):
        found = reduction.prod(found, each, bool(keepdim))
    return found


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The running sum along a dimension."""
    dtype = dtype or input.dtype
    (dim,) = sorted_dims(dim, input.ndim)
    return cumulative.cumsum(filled(input, mask, 0), dim, dtype=dtype).to(dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The running product along a dimension."""
    dtype = dtype or input.dtype
    (dim,) = sorted_dims(dim, input.ndim)
    return cumulative.cumprod(filled(input, mask, 1), dim, dtype=dtype).to(dtype)


def amax(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The largest element over some dimensions; the smallest number if all are masked out."""
    dims = sorted_dims(dim, input.ndim)
    found = extremum.amax(filled(input, mask, least(input)), dims, bool(keepdim))
    return found.to(dtype or input.dtype)


def amin(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The smallest element over some dimensions; the largest number if all are masked out."""
    dims = sorted_dims(dim, input.ndim)
    found = extremum.amin(filled(input, mask, greatest(input)), dims, bool(keepdim))
    return found.to(dtype or input.dtype)


def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The place of the largest element, in the dtype of the input if no other is given."""
    found = extremum.argmax(filled(input, mask, least(input)), dim, bool(keepdim))
    return found.to(dtype or input.dtype)


def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The place of the smallest element, in the dtype of the input if no other is given."""
    found = extremum.argmin(filled(input, mask, greatest(input)), dim, bool(keepdim))
    return found.to(dtype or input.dtype)


def logsumexp(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The logarithm of the sum of exponentials over some dimensions."""
    dims = sorted_dims(dim, input.ndim)
    found = softmax.logsumexp(filled(input, mask, least(input)), dims, keepdim)
    return found.to(dtype or input.dtype)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The logarithm of the sum of two exponentials, of those that are not masked out."""
    found = powers.logaddexp(
        filled(input, input_mask, -math.inf), filled(other, other_mask, -math.inf)
    )
    return found.to(dtype or input.dtype)


def norm(
    input: Tensor, ord: float | None = 2.0, dim: Any = None, *, keepdim: bool = False,
    dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The vector norm over some dimensions."""
    shown = filled(input, mask, math.inf if ord == -math.inf else 0)
    dims = sorted_dims(dim, input.ndim)
    return norms.vector_norm(
        shown, 2.0 if ord is None else ord, dims, bool(keepdim), dtype=dtype or input.dtype
    )
