"""The same elements in the same order under another shape: views, unless a reshape must copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._lazy import memory
from gradtool.engine._levels import Outline
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.batching import changing, of_examples, one_later, over_dims
from gradtool.engine._ops.core.dims import Ints, as_ints, one_by_one, wrap_dim, wrap_dims
from gradtool.engine._ops.core.dtype_support import TYPE_NAMES
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.node_names import give_name, numbered
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._tensor import Tensor, wrap

_view = linear(
    "view",
    lambda x, *, shape: x.reshape(shape),
    lambda g, x_shape: g.reshape(x_shape),
    is_view=True,
    batch=changing(shape=of_examples),
)
_copying_reshape = linear(
    "unsafe_view",
    lambda x, *, shape: x.reshape(shape),
    lambda g, x_shape: g.reshape(x_shape),
    batch=changing(shape=of_examples),
)
_unsqueeze = linear(
    "unsqueeze",
    lambda x, *, dim: x[(*[slice(None)] * dim, None)],
    lambda g, dim: g.squeeze(dim),
    is_view=True,
    batch=changing(dim=one_later),
)
_squeeze = linear(
    "squeeze",
    lambda x, *, dims: x.squeeze(dims),
    lambda g, x_shape: g.reshape(x_shape),
    is_view=True,
    batch=over_dims,
)


@op(method=True)
@one_by_one
def reshape(x: Tensor, shape: Ints) -> Tensor:
    """The elements in row-major order in another shape: a view where possible, else a copy.

    One extent may be -1; it is what the number of elements leaves.
    """
    quick = _quick_view(x, shape)
    if quick is not None:
        return quick
    shape = _resolved(shape, x.shape)
    if not _is_viewable(x, shape):
        return _copying_reshape(x, shape=shape)
    out = _view(x, shape=shape)
    if out._requires_grad and not x.is_contiguous():
        give_name(out, "ReshapeAliasBackward0", [x._node])
    return out


def _quick_view(x: Tensor, shape: Ints) -> Tensor | None:
    """The view of a tensor without gaps in its memory; None where a closer look is needed."""
    array = x._array
    if x.__class__ is not Tensor or array.size == 0 or not array.flags.c_contiguous:
        return None
    if -1 in shape:
        try:
            shape = array.reshape(shape).shape
        except ValueError:
            return None
    elif _product(shape) != array.size or min(shape, default=0) < 0:
        return None
    return _view(x, shape=shape)


def reshape_own(x: Tensor, shape: Ints) -> Tensor:
    """`reshape` of memory that nothing else refers to: the result is no view."""
    return _copying_reshape(x, shape=shape)


@method()
def view(x: Tensor, *size: Any, dtype: _dtypes.dtype | None = None, **named: Any) -> Tensor:
    """`reshape` that never copies. Given a dtype: the same bytes as elements of that.

    Raises:
        RuntimeError: the strides allow no such view.
    """
    if dtype is not None or (size and isinstance(size[0], _dtypes.dtype)):
        return _reinterpreted(x, dtype or size[0])
    if not (size or named):
        raise TypeError("view() needs a size or a dtype")
    return _viewed(x, *size, **named)


@one_by_one
def _viewed(x: Tensor, size: Ints) -> Tensor:
    quick = _quick_view(x, size)
    if quick is not None:
        return quick
    shape = _resolved(size, x.shape)
    if not _is_viewable(x, shape):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return _view(x, shape=shape)


def _reinterpreted(x: Tensor, dtype: _dtypes.dtype) -> Tensor:
    if x._lazy is not None:
        bit = "conjugate view tensors" if x._lazy.conj else "tensors with negative bit set"
        raise RuntimeError(
            f"torch.Tensor.view is not supported for {bit} when converting to a different dtype."
        )
    if dtype.itemsize != x.itemsize:
        _check_elements_fit(x, dtype)
    out = wrap(x._array.view(dtype.numpy))
    # To torch it is of inference mode where it was made there, whatever it is a view of.
    if not (modes.inference or x.is_inference()):
        out._storage = x._shared_storage()
    return out


def _check_elements_fit(x: Tensor, dtype: _dtypes.dtype) -> None:
    """Refuse a view of elements of another size that do not lie next to one another.

    Raises:
        RuntimeError: there is no last dimension, or its elements make no whole number of others.
    """
    ratio = dtype.itemsize // x.itemsize
    reasons = [("dim()", "cannot be 0", "", x.ndim == 0)]
    if x.ndim and ratio:
        extent, offset = x.shape[-1], x.storage_offset()
        rule = f"must be divisible by {ratio}"
        reasons.append(("size(-1)", rule, f", but got {extent}", extent % ratio != 0))
        reasons.append(("storage_offset()", rule, f", but got {offset}", offset % ratio != 0))
    if x.ndim:
        step = x.stride(-1)
        # NumPy's step along a dimension with one place means nothing.
        apart = step != 1 and x.shape[-1] != 1
        reasons.append(("stride(-1)", "must be 1", f", but got {step}", apart))
    if x.ndim and ratio > 1 and any(x._array.strides):
        for dim, step in enumerate(x.stride()[:-1]):
            reasons.append((f"stride({dim})", rule, f", but got {step}", step % ratio != 0))
    have, want = TYPE_NAMES[x.dtype.name], TYPE_NAMES[dtype.name]
    for what, rule, found, holds in reasons:
        if holds:
            raise RuntimeError(
                f"self.{what} {rule} to view {have} as {want} (different element sizes){found}"
            )


def _resolved(shape: Ints, old: Ints) -> Ints:
    """`shape` with its -1, if any, replaced; checked against the number of elements."""
    count = _product(old)
    inferred = [position for position, extent in enumerate(shape) if extent == -1]
    if len(inferred) > 1:
        raise RuntimeError("only one dimension can be inferred")
    for position, extent in enumerate(shape):
        if extent < -1:
            raise RuntimeError(
                f"invalid shape dimension {extent} at index {position} of shape {list(shape)}"
            )
    if not inferred:
        if _product(shape) != count:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
        return shape
    return _inferred(shape, inferred[0], count)


def _inferred(shape: Ints, position: int, count: int) -> Ints:
    rest = _product(shape[:position] + shape[position + 1 :])
    if rest == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
            if count == 0
            else f"shape '{list(shape)}' is invalid for input of size {count}"
        )
    if count % rest:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
    return (*shape[:position], count // rest, *shape[position + 1 :])


def _product(shape: Ints) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def _is_viewable(x: Tensor, shape: Ints) -> bool:
    """Return True where the array library reshapes without a copy. New memory never overlaps."""
    array = x._array if x._lazy is None else memory(x)
    if array.flags.c_contiguous or array.size == 0:
        return True
    while isinstance(array, Outline):  # all examples are viewable so if one is
        array, shape = array.behind, (array.behind.shape[0], *shape)
    return array.size == 0 or bool(np.may_share_memory(array.reshape(shape), array))


@method()
def view_as(x: Tensor, other: Tensor) -> Tensor:
    """``x.view(other.shape)``."""
    return _viewed(x, other.shape)


@method()
def reshape_as(x: Tensor, other: Tensor) -> Tensor:
    """``x.reshape(other.shape)``."""
    return reshape(x, other.shape)


@op(method=True)
def ravel(x: Tensor) -> Tensor:
    """All elements in one dimension, next to each other in memory."""
    return reshape(x.contiguous(), (-1,))


@op(method=True)
def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from `start_dim` to `end_dim`, both included, made one."""
    start, end = wrap_dim(start_dim, x.ndim), wrap_dim(end_dim, x.ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end and x.ndim:
        return x
    shape = x.shape
    return reshape(x, (*shape[:start], _product(shape[start : end + 1]), *shape[end + 1 :]))


@op(method=True)
def unflatten(x: Tensor, dim: int, sizes: Ints) -> Tensor:
    """One dimension split into several, of which one extent may be -1."""
    if not len(sizes):
        raise RuntimeError("unflatten: sizes must be non-empty")
    if wrap_dim(dim, x.ndim) == 0 and not x.ndim:
        raise RuntimeError(
            "unflatten got an unexpected error:\nDimension specified as "
            f"{dim} but tensor has no dimensions"
        )
    dim, shape = wrap_dim(dim, x.ndim), x.shape
    try:
        parts = _resolved(as_ints(sizes), (shape[dim],))
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({shape[dim]}) in the input tensor"
        ) from None
    return _view(x, shape=(*shape[:dim], *parts, *shape[dim + 1 :]))


@op
def numel(x: Tensor) -> int:
    """Number of elements."""
    return x.numel()


@op(method=True)
def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """A dimension of extent one more, at `dim`."""
    return _unsqueeze(x, dim=wrap_dim(dim, x.ndim + 1))


def squeeze_overload(_x: Any, dim: Any = None) -> int:
    """Return the number of torch's overload of `squeeze` that takes these arguments."""
    return 0 if dim is None else 2 if isinstance(dim, tuple | list) else 1


@op(method=True, node=numbered("Squeeze", squeeze_overload))
def squeeze(x: Tensor, dim: int | Ints | None = None) -> Tensor:
    """Without the dimensions of extent one, or those of them that are named."""
    shape = x.shape
    named = range(x.ndim) if dim is None else wrap_dims(as_ints(dim), x.ndim)
    return _squeeze(x, dims=tuple([each for each in named if x.ndim and shape[each] == 1]))
