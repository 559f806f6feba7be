"""What all reductions share: which dimensions go, how a gradient comes back over them.

Everywhere here `dims` is a tuple of dimension numbers from the front. The empty tuple stands
for no dimension, which is what reducing the one dimension that a 0-d tensor counts as having
amounts to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dims import Ints, as_ints, wrap_dims
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.quiet import quiet
from gradtool.engine._tensor import Tensor, alias

Function = TypeVar("Function", bound=Callable[..., Any])


def dims_of(dim: Any, ndim: int) -> Ints:
    """The dimensions that ``dim=`` names; all of them for None and for an empty sequence.

    Raises:
        IndexError: there is no such dimension.
        RuntimeError: one is named twice.
    """
    if dim is None or names_none(dim):
        return tuple(range(ndim))
    wrapped = wrap_dims(as_ints(dim), ndim)
    return wrapped if ndim else ()


def names_none(dim: Any) -> bool:
    """Whether ``dim=`` is an empty sequence."""
    return isinstance(dim, tuple | list) and len(dim) == 0


def kept_shape(shape: Ints, dims: Ints) -> Ints:
    """The shape with the extents of `dims` one."""
    return tuple([1 if dim in dims else extent for dim, extent in enumerate(shape)])


def count_over(shape: Ints, dims: Ints) -> int:
    """How many elements of a tensor of this shape are reduced to one."""
    count = 1
    for dim in dims:
        count *= shape[dim]
    return count


def _spread_out(x: Any, *, shape: Ints, dims: Ints) -> Any:
    if x.__class__ is np.ndarray and x.size == 1:
        # What broadcast_to would return, at a seventh of its price.
        everywhere = np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
        everywhere.setflags(write=False)
        return everywhere
    return np.broadcast_to(x.reshape(kept_shape(shape, dims)), shape)


_spread: Any = linear(
    "spread",
    _spread_out,
    lambda g, x_shape, dims: g.sum(dims, keepdim=True).reshape(x_shape),
    is_view=True,
)


def spread(reduced: Tensor, shape: Ints, dims: Ints) -> Tensor:
    """What was reduced over `dims`, kept or not, in every place that it was reduced from."""
    if not dims:
        return reduced
    if reduced.__class__ is Tensor and not modes.grad:
        # A gradient on its way: shares memory with `reduced`, but has no history to keep.
        return alias(_spread_out(reduced._array, shape=shape, dims=dims), reduced._shared_storage())
    spread_out: Tensor = _spread(reduced, shape=shape, dims=dims)
    return spread_out


def accumulating(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute` in silence, with half precision added up in single precision, as torch does."""

    @quiet
    @functools.wraps(compute)
    def wide(x: Any, **params: Any) -> Any:
        if x.dtype.char == "e":
            return compute(x.astype(np.float32), **params).astype(np.float16)
        return compute(x, **params)

    return wide


def numpy_names(function: Function) -> Function:
    """Let ``axis`` and ``keepdims`` stand for ``dim`` and ``keepdim``, as torch does."""

    @functools.wraps(function)
    def named(*args: Any, **params: Any) -> Any:
        if params:
            for theirs, ours in (("axis", "dim"), ("keepdims", "keepdim")):
                if theirs in params:
                    params[ours] = params.pop(theirs)
        return function(*args, **params)

    return named  # type: ignore[return-value]  # it has the signature of `function`, and more
