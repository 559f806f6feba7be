"""Elements picked or replaced by a boolean mask, and where the non-zero ones are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine._ops.core.batching import lined_up
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.shape.expansion import broadcast_tensors
from gradtool.engine._tensor import Tensor, wrap

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel


def _fill_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """Choose by `where` among several values, of which the primitive takes one."""
    from gradtool.engine._ops.elementwise.selection import where

    x, value, mask = lined_up(level, args)
    out: Tensor = where(mask, value, x) if level.owns(args[1]) else primitive(x, value, mask)
    return out


_masked_fill = Primitive(
    "masked_fill",
    lambda x, value, mask: np.where(mask, value, x),
    (
        vjp_of(lambda g, mask, x_shape: g.masked_fill(mask, 0).sum_to_size(x_shape)),
        vjp_of(lambda g, mask: g.masked_fill(~mask, 0).sum()),
    ),
    kind="linear",
    batch=_fill_rule,
)


@op(in_place=True)
def masked_fill(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with one value, a number or a 0-d tensor, where the mask is true.

    Raises:
        RuntimeError: the mask is not boolean, or the value has dimensions or does not fit the
            dtype.
    """
    if mask._array.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype}"
        )
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if isinstance(value, complex) and not x.is_complex():
        raise RuntimeError(f"value cannot be converted to type {x.dtype} without overflow")
    fill = value.to(x.dtype) if isinstance(value, Tensor) else x.new_tensor(value)
    return _masked_fill(x, fill, mask)


@op(method=True, node="MaskedSelectBackward0")
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask, broadcast with them, is true, in one dimension."""
    if mask._array.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    values, chosen = broadcast_tensors(x, mask)
    return values[chosen]


@op(method=True)
def nonzero(x: Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of the non-zero elements: one row each, or one tensor for each dimension."""
    found = np.nonzero(np.atleast_1d(x._array))
    if as_tuple:
        return tuple([wrap(positions) for positions in found])
    return wrap(np.stack(found, axis=1)[:, : x.ndim].copy())


@op(method=True)
def argwhere(x: Tensor) -> Tensor:
    """The positions of the non-zero elements, one row each."""
    places: Tensor = nonzero(x)
    return places
