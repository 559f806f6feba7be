"""Masks: which elements count, and what stands in for those that do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.shape.expansion import broadcast_to
from gradtool.engine._tensor import Tensor


def full_mask(x: Tensor, mask: Tensor) -> Tensor:
    """The mask with the shape of `x` and boolean.

    Raises:
        IndexError: it has more dimensions than `x`.
    """
    if mask.ndim > x.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
            "input)"
        )
    return broadcast_to(mask, x.shape).bool()


def filled(x: Tensor, mask: Tensor | None, value: Any) -> Tensor:
    """`x`, with a value in place of what the mask leaves out."""
    return x if mask is None else where(full_mask(x, mask), x, x.new_full((), value))


def least(x: Tensor) -> Any:
    """The smallest number of the dtype, which a search for the largest passes over."""
    kind = x._array.dtype
    return -math.inf if kind.kind in "fc" else np.iinfo(kind).min


def greatest(x: Tensor) -> Any:
    """The largest number of the dtype, which a search for the smallest passes over."""
    kind = x._array.dtype
    return math.inf if kind.kind in "fc" else np.iinfo(kind).max


def sorted_dims(dim: Any, ndim: int) -> Ints:
    """The dimensions that ``dim=`` names, in order; all of them for None and for ``()``.

    Raises:
        IndexError: there is no such dimension.
        RuntimeError: one is named twice.
    """
    if dim is None or dim == ():
        return tuple(range(ndim))
    extent = max(ndim, 1)
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    for place, each in enumerate(given):
        if each in given[:place]:
            raise RuntimeError(f"dim={each} appears multiple times in the list of dims")
        if not -extent <= each < extent:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], "
                f"but got {each})"
            )
    return tuple(sorted([each % extent for each in given]))


# ---- the masks of an operation's operand and of its result -------------------------------------


def input_mask(input: Tensor, *_args: Any, mask: Tensor | None = None, **_named: Any) -> Tensor:
    """The mask among the arguments of a masked operation, in full.

    Raises:
        ValueError: there is none.
    """
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    return full_mask(input, mask)


_OF_EACH = ("softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod")
"""The operations that give a result for each element."""


def output_mask(op: Callable[..., Any], input: Tensor, *args: Any, **named: Any) -> Tensor:
    """The elements of a masked operation's result that something was let through to."""
    inside = input_mask(input, *args, **named)
    if op.__name__ in _OF_EACH:
        return inside
    rest = args[1:] if op.__name__ == "norm" else args
    dims = sorted_dims(rest[0] if rest else named.get("dim"), input.ndim)
    for each in reversed(dims):
        inside = inside.any(each, keepdim=bool(named.get("keepdim", False)))
    return inside


__all__ = [
    "filled", "full_mask", "greatest", "input_mask", "least", "output_mask", "sorted_dims",
]  # fmt: skip
