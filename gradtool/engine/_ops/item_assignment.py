"""``x[key] = value``, ``x.zero_()`` and ``x.fill_(value)``."""

from __future__ import annotations

from typing import Any

from gradtool.engine._levels import highest
from gradtool.engine._modes import modes
from gradtool.engine._ops._keys import parsed
from gradtool.engine._ops.indexing import index_put, normalise_key, one_for_mask, unlike_dtypes
from gradtool.engine._ops.inplace import (
    before_change,
    check_distinct_elements,
    check_in_place,
    replace,
)
from gradtool.engine._tensor import Tensor


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """Write `value`, broadcast, over the elements that `key` picks.

    Raises:
        IndexError: the key is out of range or has too many indices.
        RuntimeError: `x` is a leaf that requires a gradient, or is expanded; or the value is
            of another dtype where tensors of indices pick, or is complex where `x` is real.
    """
    if modes.grad and x._requires_grad and x._node is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    check_in_place(x)
    value = _beside(x, value)
    if _is_followed(x, value):
        replace(x, index_put(before_change(x), key, value))
        return
    check_distinct_elements(x._array)
    if isinstance(value, Tensor) and value.ndim and value.numel() == 1:
        value = one_for_mask(x, parsed(x, key), value)
    _check_dtype(x, key, value)
    x._array[normalise_key(x, key)] = value._array if isinstance(value, Tensor) else value
    x._bump()


def _check_dtype(x: Tensor, key: Any, value: Any) -> None:
    if isinstance(value, Tensor):
        if value._array.dtype != x._array.dtype:
            found = parsed(x, key)
            if found.indices and not (found.is_mask and value.ndim == 0):
                raise unlike_dtypes(x, value)
    elif isinstance(value, complex) and value.imag and not x.is_complex():
        raise RuntimeError(f"value cannot be converted to type {x.dtype.name} without overflow")


def _beside(x: Tensor, value: Any) -> Any:
    """The value on the device of `x`, to which it is copied from wherever it lies."""
    if isinstance(value, Tensor) and value._array.__class__ is not x._array.__class__:
        return value.to(x.device)
    return value


def _is_followed(x: Tensor, value: Any) -> bool:
    """Whether a graph or a transform has to see the change."""
    if modes.grad and (x._requires_grad or (isinstance(value, Tensor) and value._requires_grad)):
        return True
    return bool(modes.levels) and highest((x, value)) is not None


def fill_(x: Tensor, value: Any) -> Tensor:
    """Set every element to `value`."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    check_in_place(x)
    value = _beside(x, value)
    if _is_followed(x, value):
        filled = x.detach().new_zeros(x.shape) + value
        return replace(x, filled.to(x.dtype))
    check_distinct_elements(x._array)
    x._array[...] = value._array if isinstance(value, Tensor) else value
    x._bump()
    return x


def zero_(x: Tensor) -> Tensor:
    """Set every element to zero."""
    return fill_(x, 0)
