"""Operations on elements narrower than NumPy's: computed in single precision, and rounded once.

That is what torch does with bfloat16. Nothing is asked before such an array can exist: when its
dtype is first used, every primitive is given a computation that looks for one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dtype_support import HALF, not_implemented

if TYPE_CHECKING:
    from gradtool.engine._ops.core.primitive import Primitive

Compute = Callable[..., Any]

KEEP_BYTES = frozenset({"clone", "to_copy", "zeros_like"})
"""Primitives that take elements as they are, beside the views."""


def is_narrow(array: Any) -> bool:
    """Return True for elements that NumPy has no arithmetic for that is torch's."""
    return bool(array.dtype.kind == "V")


def widened(primitive: Primitive) -> Compute:
    """The computation of a primitive, made for narrow elements too."""
    compute, name, kept = primitive.compute, primitive.name, primitive.dtypes
    if primitive.is_view or name in KEEP_BYTES:
        return compute

    @functools.wraps(compute)
    def of_any(*arrays: Any, **params: Any) -> Any:
        found = _narrow_dtype(arrays)
        if found is None:
            return compute(*arrays, **params)
        if found.itemsize == 1 or not kept >= HALF:
            raise not_implemented(name, found)
        return rounded(compute(*map(_wide, arrays), **params), _dtype_of(arrays, params, found))

    return of_any


def _narrow_dtype(arrays: Sequence[Any]) -> Any:
    for each in arrays:
        if getattr(each, "dtype", None) is not None and each.dtype.kind == "V":
            return each.dtype
    return None


def _wide(array: Any) -> Any:
    return array.astype(np.float32) if getattr(array, "dtype", _INT).kind == "V" else array


_INT = np.dtype(np.int64)


def _dtype_of(arrays: Sequence[Any], params: dict[str, Any], narrow: Any) -> Any:
    """The dtype that single precision is rounded to: as stated, or that of the widest operand."""
    stated = params.get("dtype")
    if stated is not None:
        return stated.numpy if isinstance(stated, _dtypes.dtype) else np.dtype(stated)
    wider = any(getattr(each, "dtype", _INT).kind == "f" for each in arrays)
    return np.dtype(np.float32) if wider else narrow


def rounded(result: Any, dtype: Any) -> Any:
    """A result, or each of several, of single precision as elements of a narrow dtype."""
    if isinstance(result, tuple):
        return tuple([rounded(each, dtype) for each in result])
    if getattr(result, "dtype", _INT) == np.float32:
        return np.asarray(result).astype(dtype) if dtype.kind == "V" else result
    return result


def in_single(compute: Compute, x: Any) -> Any:
    """A function of one narrow array, computed in single precision."""
    return compute(x.astype(np.float32)).astype(x.dtype)


__all__ = ["in_single", "is_narrow", "rounded", "widened"]
