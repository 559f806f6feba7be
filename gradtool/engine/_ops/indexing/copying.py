"""Values written over a whole tensor: ``copy_``, ``fill_`` and ``zero_``.

What is overwritten stays in the graph, with zero for its gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._levels.mutation import check_change
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.inplace import before_change, check_in_place, in_place, replace
from gradtool.engine._ops.core.kinds import elementwise
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import method
from gradtool.engine._ops.core.overlap import check_distinct_elements, repeats
from gradtool.engine._ops.core.scalars import scalar_for
from gradtool.engine._ops.indexing.assignment import beside, is_followed
from gradtool.engine._ops.shape.expansion import expanded_shape
from gradtool.engine._tensor import Tensor


def _written_over(x: Any, source: Any) -> Any:
    return np.broadcast_to(source.astype(x.dtype, copy=False), x.shape)


_copy_over = elementwise("copy", _written_over, 0, 1)


@method()
def copy_(x: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write a tensor or a number, broadcast and cast, over this one."""
    if not isinstance(src, Tensor):
        src = x.new_tensor(src, dtype=_dtypes.complex128 if isinstance(src, complex) else None)
    if src is x:
        src = before_change(x)
    out = _copied_in_place(x, src, non_blocking)
    if modes.grad:
        give_name(out, "CopyBackwards", [src._node])
    return out


def _copied(x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """`source` with the shape and dtype of `x`: what ``copy_`` writes over it."""
    if source.device != x.device:
        source = source.to(device=x.device, non_blocking=non_blocking)
    if not (x._requires_grad and modes.grad):
        return source.to(x.dtype).expand(x.shape)
    expanded_shape(source, x.shape)
    return _copy_over(x, source)


_copied_in_place = in_place(_copied, "copy_")


@method()
def fill_(x: Tensor, value: Any) -> Tensor:
    """Set every element to `value`.

    Raises:
        RuntimeError: it is a tensor with dimensions.
    """
    check_filling(value)
    check_in_place(x)
    if modes.levels:
        check_change(x, "fill_", (value,))
    value = beside(x, scalar_for(x, value))
    if is_followed(x, value):
        return _filled_in_graph(x, value)
    if isinstance(value, Tensor):
        check_distinct_elements(x)
        value = value._array
    else:
        repeats(x)
    x._put(..., value)
    x._bump()
    return x


def _filled_in_graph(x: Tensor, value: Any) -> Tensor:
    of_tensor = isinstance(value, Tensor)
    if of_tensor and (x._requires_grad or not x.dtype.is_differentiable):
        # Integers too, as in torch: they require a gradient from then on.
        filled = _copy_over(before_change(x, (value,)), value)
    else:
        filled = (x.detach().new_zeros(x.shape) + value).to(x.dtype)
    out = replace(x, filled, not of_tensor)
    give_name(out, "FillBackward3" if of_tensor else "FillBackward2")
    return out


def check_filling(value: Any) -> None:
    """Refuse a tensor with dimensions as the value that is written over all elements."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )


@method()
def zero_(x: Tensor) -> Tensor:
    """Set every element to zero."""
    out = fill_(x, 0)
    if modes.grad:
        give_name(out, "ZeroBackward0")
    return out


__all__ = ["check_filling", "copy_", "fill_", "zero_"]
