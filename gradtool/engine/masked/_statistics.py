"""Means, variances, medians and normalizations of the elements that a mask lets through."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.elementwise.selection import maximum
from gradtool.engine._ops.reductions import softmax as _softmax
from gradtool.engine._ops.reductions.sorting import nanmedian
from gradtool.engine._tensor import Tensor
from gradtool.engine.masked._mask import filled, full_mask, greatest, least, sorted_dims
from gradtool.engine.masked._reductions import norm, sum


def _counted(x: Tensor, dim: Any, keepdim: bool, mask: Tensor | None) -> Tensor:
    """Count the elements over some dimensions that the mask lets through."""
    ones = x.new_ones(x.shape, dtype=_dtypes.int64) if mask is None else full_mask(x, mask)
    return sum(ones, dim, keepdim=keepdim)


def mean(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The mean over some dimensions; NaN where everything is masked out.

    Raises:
        ValueError: the elements are neither floating nor complex and no such dtype is given.
    """
    result = dtype or input.dtype
    if not result.is_differentiable:
        source = "Input" if dtype is None else "Optional"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either "
            f"a floating point or complex dtype. Got: {result}"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=result, mask=mask)
    return total / _counted(input, dim, keepdim, mask)


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The median along a dimension; NaN where everything is masked out.

    Raises:
        ValueError: everything is masked out somewhere, and the elements are integers.
    """
    dim = sorted_dims(dim, input.ndim)[0]
    floating = input if input.is_floating_point() else input.to(_dtypes.float32)
    found: Tensor = nanmedian(filled(floating, mask, math.nan), dim, keepdim).values
    if floating is input:
        return found
    if bool(found.isnan().any()):
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return found.to(dtype or input.dtype)


def var(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The variance over some dimensions; NaN where everything is masked out."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0 if unbiased is False else 1
    floating = input.dtype if input.dtype.is_differentiable else _dtypes.float32
    dtype = dtype or floating
    within = dtype if dtype.is_differentiable else _dtypes.float32
    count = _counted(input, dim, True, mask)
    deviation = input - sum(input, dim, keepdim=True, dtype=dtype, mask=mask) / count
    squares = deviation * deviation.conj()
    total = sum(squares, dim, keepdim=keepdim, dtype=within, mask=mask)
    freedom = count.reshape(total.shape)
    if correction:
        real = total.real.dtype if total.is_complex() else within
        freedom = (freedom.to(real) - correction).clamp(min=0)
    return (total / freedom).to(dtype)


def std(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The standard deviation: the square root of `var`."""
    found = var(
        input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
    )
    return found.sqrt()


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The shares of the exponentials in their sum."""
    (dim,) = sorted_dims(dim, input.ndim) or (0,)
    return _softmax.softmax(filled(input, mask, least(input)), dim, dtype=dtype or input.dtype)


def log_softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of `softmax`."""
    (dim,) = sorted_dims(dim, input.ndim) or (0,)
    return _softmax.log_softmax(filled(input, mask, least(input)), dim, dtype=dtype or input.dtype)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """`softmax` of the negative elements."""
    (dim,) = sorted_dims(dim, input.ndim) or (0,)
    shown = filled(input, mask, greatest(input))
    return _softmax.softmax(-shown, dim, dtype=dtype or input.dtype)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The elements divided by their norm along a dimension, or by `eps` if that is larger."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    shown = filled(input, mask, 0)
    return shown / maximum(length, length.new_full((), eps))
