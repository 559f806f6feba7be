"""Broadcasting, copies, repetition, and elements in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import changing, over_dims, padded, unchanged
from gradtool.engine._ops.core.dims import (
    Ints,
    as_ints,
    inverse_order,
    one_by_one,
    wrap_dim,
    wrap_dims,
)
from gradtool.engine._ops.core.dtype_support import INT64, SMOOTH
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.core.overlap import has_repeats
from gradtool.engine._ops.shape.shape import reshape_own
from gradtool.engine._settings import preserve_format
from gradtool.engine._size import Size
from gradtool.engine._tensor import CHANNELS_LAST, Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel

# ---- broadcasting, and the sum that is its transpose -----------------------------------------


def _stretched(x: Any, *, shape: Ints) -> Any:
    if x.shape == shape:
        return x[...]
    if x.__class__ is np.ndarray and x.size and x.flags.c_contiguous:
        before = len(shape) - x.ndim
        places = zip(x.shape, shape[before:], x.strides, strict=True)
        kept = [step if each == extent else 0 for each, extent, step in places]
        strides = [0] * before + kept
        return np.ndarray(shape, x.dtype, x, 0, strides)  # in a fraction of broadcast_to's time
    view = np.broadcast_to(x, shape)
    if isinstance(view, np.ndarray) and x.flags.writeable:
        view.flags.writeable = True  # a slice of it is as good to write to as one of `x`
    return view


def _expand_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    shape = params["shape"]
    out: Tensor = primitive(padded(level.below(args[0]), len(shape)), shape=(level.size, *shape))
    return out


_expand = linear(
    "expand",
    _stretched,
    lambda g, x_shape: g.sum_to_size(x_shape),
    is_view=True,
    batch=_expand_rule,
)


@ignore_fp_warnings
def _summed_to(x: Any, *, shape: Ints) -> Any:
    leading = x.ndim - len(shape)
    axes = tuple(
        axis for axis in range(x.ndim) if axis < leading or shape[axis - leading] != x.shape[axis]
    )
    dtype = np.int64 if x.dtype.kind in "iub" else x.dtype
    return x.sum(axis=axes, dtype=dtype, keepdims=True).reshape(shape)


def _sum_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    shape = params["shape"]
    kept = (1,) * (args[0].ndim - len(shape)) + shape
    summed = primitive(level.below(args[0]), shape=(level.size, *kept))
    out: Tensor = summed.reshape(level.size, *shape)
    return out


_sum_to_size = linear(
    "sum_to_size",
    _summed_to,
    lambda g, x_shape: g.expand(x_shape),
    dtypes=SMOOTH | INT64,
    batch=_sum_rule,
)


@method()
@one_by_one
def expand(x: Tensor, size: Ints, *, implicit: bool = False) -> Tensor:
    """Dimensions of extent one stretched without a copy; -1 keeps an extent."""
    return _expand(x, shape=expanded_shape(x, size))


def expanded_shape(x: Tensor, size: Ints) -> Ints:
    """The shape that a tensor is expanded to.

    Raises:
        RuntimeError: it has more dimensions, or an extent other than one that would change.
    """
    shape = x._array.shape
    new = len(size) - len(shape)
    if new < 0:
        raise RuntimeError(
            f"expand({x.type()}{{{list(shape)}}}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    for position, extent in reversed([*enumerate(size)]):
        if position < new and extent < 0:
            raise RuntimeError(
                f"The expanded size of the tensor ({extent}) isn't allowed in a leading, "
                f"non-existing dimension {position}"
            )
        if position >= new and extent != -1 and shape[position - new] not in (1, extent):
            raise RuntimeError(
                f"The expanded size of the tensor ({extent}) must match the existing size "
                f"({shape[position - new]}) at non-singleton dimension {position}.  "
                f"Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
            )
    return tuple(
        [
            shape[position - new] if extent == -1 and position >= new else extent
            for position, extent in enumerate(size)
        ]
    )


@method()
def expand_as(x: Tensor, other: Tensor) -> Tensor:
    """``x.expand(other.shape)``."""
    return expand(x, other.shape)


@op(method=True)
@one_by_one
def broadcast_to(x: Tensor, size: Ints) -> Tensor:
    """The same as `expand`."""
    return expand(x, size)


@op
def broadcast_shapes(*shapes: int | Ints) -> Ints:
    """The shape that these broadcast to, as a `Size`.

    Raises:
        RuntimeError: they do not broadcast.
    """
    result: list[int] = []
    for shape in map(as_ints, shapes):
        result = [1] * (len(shape) - len(result)) + result
        for back in range(-1, -len(shape) - 1, -1):
            if 1 not in (shape[back], result[back]) and shape[back] != result[back]:
                raise RuntimeError(
                    f"The size of tensor a ({result[back]}) must match the size of tensor b "
                    f"({shape[back]}) at non-singleton dimension {len(result) + back}"
                )
            result[back] = shape[back] if result[back] == 1 else result[back]
    return Size(result)


@op
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors in the shape that they broadcast to: views, or those of that shape themselves."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    shape = broadcast_shapes(*[each.shape for each in given])
    return tuple(
        [each if each.shape == shape else _expand(each, shape=tuple(shape)) for each in given]
    )


def _node_of_sum(x: Tensor, *size: Any) -> str:
    """Return the last of the steps that torch takes: a sum, and a view without dimensions."""
    shape = as_ints(size[0] if len(size) == 1 else size)
    if not shape:
        return "SumBackward0"
    return "ViewBackward0" if len(shape) < x.ndim else "SumBackward1"


@method(node=_node_of_sum)
@one_by_one
def sum_to_size(x: Tensor, size: Ints) -> Tensor:
    """Summed over the dimensions that broadcasting from `size` would have added or stretched."""
    shape = x._array.shape
    if size == shape and shape:
        return x
    new = len(shape) - len(size)
    if new < 0 or any(size[at] not in (1, shape[at + new]) for at in range(len(size))):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    return _sum_to_size(x if x.dtype.is_differentiable else x.to(_dtypes.int64), shape=size)


# ---- copies, repetition and order ------------------------------------------------------------


def _copied(x: Any) -> Any:
    """A dense copy in the same memory order; an expanded array has none, and gets row-major."""
    return x.copy(order="C" if has_repeats(x) else "K")


_clone = linear("clone", _copied, lambda g: g, batch=unchanged)
contiguous_copy = linear("clone", lambda x: x.copy(order="C"), lambda g: g, batch=unchanged)


def _laid_out(x: Any, *, axes: Ints) -> Any:
    return x.transpose(axes).copy(order="C").transpose(inverse_order(axes))


def _axes_of_examples(axes: Ints, _size: int) -> Ints:
    return (0, *[axis + 1 for axis in axes])


_copy_in_order = linear("clone", _laid_out, lambda g: g, batch=changing(axes=_axes_of_examples))


def in_format(x: Tensor, memory_format: Any) -> Tensor:
    """The tensor itself if its elements lie in the order of the format, else a copy where they do.

    Raises:
        RuntimeError: the format is of another number of dimensions.
    """
    axes = CHANNELS_LAST.get(str(memory_format))
    if axes is not None and x.ndim != len(axes):
        name = str(memory_format).removeprefix("torch.")
        raise RuntimeError(f"required rank {len(axes)} tensor to use {name} format")
    if x.is_contiguous(memory_format=memory_format):
        return x
    return contiguous_copy(x) if axes is None else _copy_in_order(x, axes=axes)


def _repeat_rule(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    repeats = params["repeats"]
    out: Tensor = primitive(padded(level.below(args[0]), len(repeats)), repeats=(1, *repeats))
    return out


_repeat = linear(
    "repeat",
    lambda x, *, repeats: np.tile(x, repeats),
    lambda g, x_shape, repeats: _repeats_summed(g, x_shape, repeats),
    batch=_repeat_rule,
)
_flip = linear(
    "flip",
    lambda x, *, dims: np.flip(x, dims).copy(),
    lambda g, dims: g.flip(dims),
    batch=over_dims,
)
_roll = linear(
    "roll",
    lambda x, *, shifts, dims: np.roll(x, shifts, dims),
    lambda g, shifts, dims: g.roll(tuple([-shift for shift in shifts]), dims),
    batch=over_dims,
)


def _repeats_summed(g: Tensor, shape: Ints, repeats: Ints) -> Tensor:
    """The transpose of repeating: the repeats as dimensions of their own, summed over."""
    if 0 in repeats:
        return g.new_zeros(shape)
    new = len(repeats) - len(shape)
    pairs = zip(repeats, (1,) * new + shape, strict=True)
    apart = g.reshape([extent for pair in pairs for extent in pair])
    return apart.sum(tuple(range(0, 2 * len(repeats), 2))).reshape(shape) if repeats else g


@op(method=True)
def clone(x: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy that the gradient flows through."""
    if memory_format is None or memory_format is preserve_format:
        return _clone(x)
    copied = in_format(x, memory_format)
    return _clone(x) if copied is x else copied


@method()
def contiguous(x: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor itself if it is contiguous, else a copy that is."""
    return in_format(x, memory_format)


@method()
@one_by_one
def repeat(x: Tensor, repeats: Ints) -> Tensor:
    """Copies side by side, so many along each dimension; further dimensions come in front."""
    if len(repeats) < x.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions "
            "of tensor"
        )
    if any(count < 0 for count in repeats):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(repeats)}")
    return _repeat(x, repeats=repeats)


@op(method=True)
@one_by_one
def tile(x: Tensor, dims: Ints) -> Tensor:
    """`repeat` that leaves the dimensions in front alone where fewer counts are given."""
    return repeat(x, (1,) * (x.ndim - len(dims)) + dims)


@op(method=True)
@one_by_one
def flip(x: Tensor, dims: Ints) -> Tensor:
    """The elements in reverse order along these dimensions."""
    return _flip(x, dims=wrap_dims(dims, x.ndim) if x.ndim else ())


@op(method=True, node="RollBackward0")
def roll(x: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Tensor:
    """The elements moved along dimensions, those pushed out coming back at the other end.

    Without `dims`, along all elements in row-major order.
    """
    steps = as_ints(shifts)
    if dims is None or dims == ():
        return reshape_own(_roll(x.reshape(-1), shifts=steps, dims=(0,)), tuple(x.shape))
    axes = as_ints(dims)
    if len(steps) != len(axes):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(axes)}"
        )
    if not x.numel():  # As in torch, before the dimensions are looked at.
        return x.clone()
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {axes[0]} but tensor has no dimensions")
    return _roll(x, shifts=steps, dims=tuple([wrap_dim(axis, x.ndim) for axis in axes]))
