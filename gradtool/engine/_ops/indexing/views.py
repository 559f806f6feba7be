"""Views of a part of a tensor: a slice, some slices, windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.device.differences import windows, zeros_like
from gradtool.engine._ops.core.batching import changing, of_examples, one_later
from gradtool.engine._ops.core.dims import Ints, wrap_dim
from gradtool.engine._ops.core.dtype_support import SMOOTH
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.shape.memory import without_elements
from gradtool.engine._tensor import Tensor

# ---- slices and pieces -----------------------------------------------------------------------
#
# Each is a key of integers, slices and None; the transpose of taking what is there is to put it
# there among zeros.


def _view_at(x: Any, *, key: tuple[Any, ...]) -> Any:
    out = x[(*key, Ellipsis)]  # without the ellipsis an element would be a copy
    if out.size or not isinstance(x, np.ndarray):
        return out
    return without_elements(x, out, _bytes_before(x, key))


def _bytes_before(x: Any, key: tuple[Any, ...]) -> int:
    """Bytes from the first element of `x` to the first that a key picks, were there any."""
    parts = [part for part in key if part is not None]
    firsts = [
        part.indices(extent)[0] if isinstance(part, slice) else part + extent * (part < 0)
        for part, extent in zip(parts, x.shape)
    ]
    return sum(first * step for first, step in zip(firsts, _steps(x)))


def _steps(x: Any) -> list[int]:
    """The strides, of new dimensions as torch has them: beyond those that follow."""
    steps = list(x.strides)
    for dim in reversed(range(x.ndim)):
        if x.shape[dim] == 1 and not steps[dim]:
            steps[dim] = x.shape[dim + 1] * steps[dim + 1] if dim + 1 < x.ndim else x.itemsize
    return steps


def _zeros_with(x: Any, *, shape: Ints, key: tuple[Any, ...]) -> Any:
    """Zeros with `x` written at a key: the transpose of taking it from there."""
    out = zeros_like(x, shape)
    out[key] = x
    return out


def _of_all(key: tuple[Any, ...], _size: int) -> tuple[Any, ...]:
    """Return the key that picks from every example what `key` picks from one."""
    return (slice(None), *key)


_put_in_zeros: Primitive = linear(
    "slice_backward",
    _zeros_with,
    lambda g, key: take_slice(g, key=key),
    dtypes=SMOOTH,
    batch=changing(shape=of_examples, key=_of_all),
)


def _viewing(name: str) -> Primitive:
    return linear(
        name,
        _view_at,
        lambda g, x_shape, key: _put_in_zeros(g, shape=x_shape, key=key),
        is_view=True,
        batch=changing(key=_of_all),
    )


take_select: Primitive = _viewing("select")
take_slice: Primitive = _viewing("slice")


@op(method=True)
def select(x: Tensor, dim: int, index: int) -> Tensor:
    """One slice along a dimension, without it: a view."""
    if x.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, position = wrap_dim(dim, x.ndim), int(index)
    if not -x.shape[dim] <= position < x.shape[dim]:
        raise IndexError(
            f"select(): index {position} out of range for tensor of size {list(x.shape)} at "
            f"dimension {dim}"
        )
    return take_select(x, key=(*[slice(None)] * dim, position))


@op(method=True)
def narrow(x: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """So many slices along a dimension from `start` on: a view."""
    if x.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    dim, first = wrap_dim(dim, x.ndim), int(start)
    extent = x.shape[dim]
    if not -extent <= first <= extent:
        raise IndexError(
            f"start out of range (expected to be in range of [{-extent}, {extent}], "
            f"but got {first})"
        )
    first += extent if first < 0 else 0
    if first + length > extent:
        raise RuntimeError(
            f"start ({first}) + length ({length}) exceeds dimension size ({extent})."
        )
    return take_slice(x, key=(*[slice(None)] * dim, slice(first, first + length, 1)))


def sliced(
    x: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """The slices ``start:end:step`` along a dimension: a view."""
    if x.ndim == 0:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    return take_slice(x, key=(*[slice(None)] * wrap_dim(dim, x.ndim), slice(start, end, step)))


# ---- overlapping windows, and the sum that is their transpose --------------------------------


def _windows(x: Any, *, dim: int, size: int, step: int) -> Any:
    """Windows along a dimension, as a last dimension more."""
    moved = windows(x, (size,), (dim,))
    return moved[(*[slice(None)] * dim, slice(None, None, step))]


def _summed_windows(x: Any, *, shape: Ints, dim: int, step: int) -> Any:
    """The transpose of `_windows`: every window added where it was taken from."""
    out = zeros_like(x, shape)
    count = x.shape[dim]
    for offset in range(x.shape[-1]):
        taken = slice(offset, offset + step * (count - 1) + 1, step)
        out[(*[slice(None)] * dim, taken)] += x[..., offset]
    return out


_unfold: Primitive = linear(
    "unfold",
    _windows,
    lambda g, x_shape, dim, step: sum_of_windows(g, shape=x_shape, dim=dim, step=step),
    is_view=True,
    batch=changing(dim=one_later),
)
sum_of_windows: Primitive = linear(
    "unfold_backward",
    _summed_windows,
    lambda g, x_shape, dim, step: _unfold(g, dim=dim, size=x_shape[-1], step=step),
    dtypes=SMOOTH,
    batch=changing(shape=of_examples, dim=one_later),
)


@method(node="UnfoldBackward0")
def unfold(x: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of `size` elements, `step` apart, along a dimension; their elements come last."""
    dim = wrap_dim(dimension, x.ndim)
    extent = x.shape[dim] if x.ndim else 1
    if size > extent:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {extent} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if x.ndim == 0:
        return narrow(x.reshape(1), 0, 0, size)
    return _unfold(x, dim=dim, size=size, step=step)
