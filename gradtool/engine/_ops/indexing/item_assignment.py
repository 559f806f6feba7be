"""``x[key] = value``, ``x.zero_()`` and ``x.fill_(value)``."""

from __future__ import annotations

from typing import Any

from gradtool.engine._levels import highest
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.inplace import (
    before_change,
    check_distinct_elements,
    check_in_place,
    replace,
)
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.indexing.indexing import (
    index_put,
    normalise_key,
    one_for_mask,
    unlike_dtypes,
)
from gradtool.engine._ops.indexing.keys import Key, parsed
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
        give_name(x, _node_of(parsed(x, key), value))
        return
    check_distinct_elements(x._array)
    if isinstance(value, Tensor) and value.ndim and value.numel() == 1:
        value = one_for_mask(x, parsed(x, key), value)
    _check_dtype(x, key, value)
    x._array[normalise_key(x, key)] = value._array if isinstance(value, Tensor) else value
    x._bump()


def _node_of(key: Key, value: Any) -> str:
    """What torch has for it: a change of the view that the key picks, or of the whole."""
    if key.indices and key.is_trivial:
        return "IndexPutBackward0"
    if key.is_trivial:
        return "CopyBackwards" if isinstance(value, Tensor) else "FillBackward3"
    return "CopySlices"


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
        out = replace(x, filled.to(x.dtype))
        give_name(out, "FillBackward2")
        return out
    check_distinct_elements(x._array)
    x._array[...] = value._array if isinstance(value, Tensor) else value
    x._bump()
    return x


def fill_diagonal_(x: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the main diagonal to a number; with `wrap` a tall matrix has another below a gap row.

    Raises:
        RuntimeError: there are less than 2 dimensions, or more than 2 of different extents.
    """
    if x.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    if wrap and x.ndim == 2:
        places = arange(x.numel(), device=x.device)
        rows, columns = places // x.shape[1], places % x.shape[1]
        on_diagonal = rows % (x.shape[1] + 1) == columns
        mask = on_diagonal.reshape(x.shape)
        setitem(x, mask, fill_value)
        return x
    setitem(x, (arange(min(x.shape), device=x.device),) * x.ndim, fill_value)
    return x


def zero_(x: Tensor) -> Tensor:
    """Set every element to zero."""
    out = fill_(x, 0)
    give_name(out, "ZeroBackward0")
    return out
