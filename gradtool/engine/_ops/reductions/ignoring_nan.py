"""Functions that take NaN for a value that is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dtype_support import ORDERED, not_implemented, refusing_complex
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import Product, binary
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.elementwise.comparison import isneginf, isposinf
from gradtool.engine._ops.reductions.reduction import numpy_names, sum
from gradtool.engine._tensor import Tensor


def _isnan(x: Tensor) -> Tensor:
    return x != x


fmax = op(
    binary(
        "fmax",
        ignore_fp_warnings(refusing_complex("fmax", np.fmax)),
        (
            Product(lambda g, x, y: g.masked_fill(~((x >= y) | _isnan(y)), 0)),
            Product(lambda g, x, y: g.masked_fill((x >= y) | _isnan(y), 0)),
        ),
        dtypes=ORDERED,
    ),
    method=True,
)
fmin = op(
    binary(
        "fmin",
        ignore_fp_warnings(refusing_complex("fmin", np.fmin)),
        (
            Product(lambda g, x, y: g.masked_fill(~((x <= y) | _isnan(y)), 0)),
            Product(lambda g, x, y: g.masked_fill((x <= y) | _isnan(y), 0)),
        ),
        dtypes=ORDERED,
    ),
    method=True,
)


@op(in_place=True, node="NanToNumBackward0")
def nan_to_num(
    x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """NaN and infinities replaced by numbers: zero, and the largest and smallest there are."""
    if not x.is_floating_point():
        return x.clone()
    limits = np.finfo(x._array.dtype)
    largest = float(limits.max) if posinf is None else posinf
    smallest = float(limits.min) if neginf is None else neginf
    finite = x.masked_fill(_isnan(x), 0.0 if nan is None else nan)
    return finite.masked_fill(isposinf(x), largest).masked_fill(isneginf(x), smallest)


@op(method=True, node="NansumBackward0")
@numpy_names
def nansum(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of what is not NaN.

    Raises:
        RuntimeError: the numbers are complex.
    """
    if x.is_complex():
        raise RuntimeError("nansum does not support complex inputs")
    if dtype is not None:
        x = x.to(dtype)
    return sum(x.masked_fill(_isnan(x), 0), dim, keepdim, dtype=dtype)


@op(method=True)
@numpy_names
def nanmean(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of what is not NaN.

    Raises:
        NotImplementedError: the numbers are integers.
        RuntimeError: they are complex.
    """
    if not x.dtype.is_differentiable:
        raise not_implemented("nanmean", x._array.dtype)
    if x.is_complex():
        raise RuntimeError("nansum on CPU does not support complex inputs")
    count = sum((~_isnan(x)).to(_dtypes.int64), dim, keepdim)
    total = sum(x.masked_fill(_isnan(x), 0), dim, keepdim, dtype=dtype)
    return total / count
