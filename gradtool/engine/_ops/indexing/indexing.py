"""``x[key]`` in every form that a key takes, and the functional form of ``x[key] = values``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.device import add_at, module_of
from gradtool.device.differences import zeros_like
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import SMOOTH, TYPE_NAMES
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive, Vjp
from gradtool.engine._ops.core.scalars import element_for
from gradtool.engine._ops.indexing.batch_rules import (
    index_backward_rule,
    index_put_rule,
    index_rule,
)
from gradtool.engine._ops.indexing.keys import Key, parsed, plain
from gradtool.engine._ops.indexing.views import take_select, take_slice
from gradtool.engine._ops.shape.expansion import expanded_shape, sum_to_size
from gradtool.engine._tensor import Tensor

# ---- copies: dimensions indexed by integer tensors ------------------------------------------


def _key_of(arrays: Sequence[Any], dims: Ints, shape: Ints) -> tuple[Any, ...]:
    """The array library's key for index arrays at these dimensions."""
    key: list[Any] = [slice(None)] * (max(dims, default=-1) + 1)
    for dim, array in zip(dims, arrays, strict=True):
        if array.__class__ is not np.ndarray:
            check_bounds(array, shape[dim], dim)
        key[dim] = array
    return tuple(key)


def _indexed_shape(shape: Ints, arrays: Sequence[Any], dims: Ints) -> Ints:
    """The shape of what index arrays at these dimensions pick.

    Raises:
        IndexError: the indices do not broadcast, or there is nothing to pick from.
    """
    shapes = [array.shape for array in arrays]
    try:
        found = np.broadcast_shapes(*shapes)
    except ValueError:
        worded = ", ".join(str(list(each)) for each in shapes)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {worded}"
        ) from None
    if 0 in [shape[dim] for dim in dims] and 0 not in found:
        raise IndexError("index is out of bounds for dimension with size 0")
    rest = [extent for dim, extent in enumerate(shape) if dim not in dims]
    front = dims[0] if dims[-1] - dims[0] + 1 == len(dims) else 0
    return (*rest[:front], *found, *rest[front:])


def _is_nothing(shape: Ints, arrays: Sequence[Any], dims: Ints) -> bool:
    """Return True where NumPy refused indices of which none is looked at.

    Raises:
        IndexError: (torch's) the indices do not broadcast, or one is out of bounds.
    """
    if 0 in _indexed_shape(shape, arrays, dims):
        return True
    for dim, array in zip(dims, arrays, strict=True):
        check_bounds(array, shape[dim], dim)
    return False


def check_bounds(
    positions: Any,
    extent: int,
    dim: int,
    *,
    error: type[Exception] = IndexError,
    lowest: int | None = None,
) -> None:
    """Refuse positions outside a dimension, which CuPy would wrap around.

    Raises:
        IndexError: (or `error`) one is below `lowest`, by default minus the extent, or too large.
    """
    if positions.size == 0:
        return
    if lowest == 0 and positions.dtype == np.int64 and positions.view(np.uint64).max() < extent:
        return  # as unsigned numbers, negative ones are large
    least, largest = int(positions.min()), int(positions.max())
    wrong = largest if largest >= extent else least
    if largest >= extent or least < (-extent if lowest is None else lowest):
        raise error(f"index {wrong} is out of bounds for dimension {dim} with size {extent}")


def _indexed(x: Any, *indices: Any, dims: Ints) -> Any:
    try:
        return x[_key_of(indices, dims, x.shape)]
    except IndexError:
        if not _is_nothing(x.shape, indices, dims):
            raise
        return module_of(x).empty(_indexed_shape(x.shape, indices, dims), dtype=x.dtype)


@functools.cache
def _index_of(count: int) -> Primitive:
    """Indexing by so many tensors."""
    names = tuple(f"i{position}" for position in range(count))
    return Primitive(
        "index",
        _indexed,
        [Vjp(
            lambda g, shape, dims, *indices: added_to_zeros(g, shape, dims, indices),
            ("x_shape", "dims", *names),
            of_arrays=lambda g, shape, dims, *indices: _added(g, *indices, shape=shape, dims=dims),
        )],
        arguments=("x", *names),
        kind="linear",batch=index_rule
    )  # fmt: skip


def _added(g: Any, *indices: Any, shape: Ints, dims: Ints) -> Any:
    out = zeros_like(g, shape)
    if g.size:
        add_at(out, _key_of(indices, dims, shape), g)
    return out


@functools.cache
def _index_backward_of(count: int) -> Primitive:
    """Zeros, with values added where so many tensors index: the transpose of indexing."""
    names = tuple(f"i{position}" for position in range(count))
    return Primitive(
        "index_backward",
        _added,
        [Vjp(
            lambda g, dims, *indices: _index_of(count)(g, *indices, dims=dims),
            ("dims", *names),
        )],
        arguments=("g", *names),
        kind="linear",dtypes=SMOOTH, batch=index_backward_rule
    )  # fmt: skip


def added_to_zeros(g: Tensor, shape: Ints, dims: Ints, indices: Sequence[Tensor]) -> Tensor:
    """Zeros of a shape, with `g` added where the tensors index these dimensions."""
    return _index_backward_of(len(indices))(g, *indices, shape=tuple(shape), dims=dims)


# ---- copies with values written at a key ----------------------------------------------------


@functools.cache
def _index_put_of(count: int) -> Primitive:
    """A copy of a tensor with values written, or added, where a key points."""
    names = tuple(f"i{position}" for position in range(count))

    def put(x: Any, values: Any, *indices: Any, basic: Any, dims: Ints, accumulate: bool) -> Any:
        out = x.copy()
        target = out[(*basic, Ellipsis)]
        try:
            key = _key_of(indices, dims, target.shape) or Ellipsis
            if accumulate:
                add_at(target, key, values)
            else:
                target[key] = values
        except IndexError:
            if not _is_nothing(target.shape, indices, dims):
                raise
        return out

    def of_x(g: Tensor, basic: Any, dims: Ints, accumulate: bool, *indices: Tensor) -> Tensor:
        if accumulate:
            return g
        zero = g.new_zeros(())
        return _index_put_of(count)(g, zero, *indices, basic=basic, dims=dims, accumulate=False)

    def of_values(g: Tensor, shape: Ints, basic: Any, dims: Ints, *indices: Tensor) -> Tensor:
        taken = take_slice(g, key=basic)
        picked = _index_of(count)(taken, *indices, dims=dims) if indices else taken
        return sum_to_size(picked, shape)

    return Primitive(
        "index_put",
        put,
        [
            Vjp(of_x, ("basic", "dims", "accumulate", *names)),
            Vjp(of_values, ("values_shape", "basic", "dims", *names)),
        ],
        arguments=("x", "values", *names),
        kind="linear",
        batch=index_put_rule,
    )


# ---- the functions --------------------------------------------------------------------------


def getitem(x: Tensor, key: Any) -> Tensor:
    """``x[key]``: a view for integers, slices, None and an ellipsis; a copy for tensors.

    Raises:
        IndexError: the key is out of range, has too many parts, or a part of it is no index.
    """
    if key.__class__ is Tensor is x.__class__ and _are_positions(key._array, x._array):
        return _index_of(1)(x, key, dims=(0,))
    basic = plain(x._array.shape, key)
    if basic is not None:
        if key.__class__ is int:
            return take_select(x, key=basic)
        return take_slice(x, key=basic)
    found = parsed(x, key)
    if not found.indices:
        out = take_slice(x, key=found.basic)
        if out._requires_grad and found.is_trivial:
            give_name(out, "AliasBackward0")
        return out
    taken = x if found.is_trivial else take_slice(x, key=found.basic)
    return _index_of(len(found.indices))(taken, *found.indices, dims=found.dims)


def _are_positions(index: Any, array: Any) -> bool:
    """Return True for integers that NumPy checks and takes as they are; CuPy checks none."""
    return (
        index.__class__ is np.ndarray is array.__class__
        and index.dtype == np.int64
        and index.ndim > 0
        and array.ndim > 0
    )


@op(method=True)
def index_put(x: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """A copy of `x` with `values` at ``x[indices]``, or added to what is there.

    `indices` is any key that `getitem` takes; added values add up where the key repeats.

    Raises:
        IndexError: the key is out of range.
        RuntimeError: the values have another dtype, or do not broadcast to what the key picks.
    """
    key = put_key(x, indices)
    if not isinstance(values, Tensor):
        values = x.new_tensor(values)
    return put(x, key, fitted(x, key, values, accumulate), accumulate)


def put_key(x: Tensor, indices: Any) -> Key:
    """The key that `index_put` is given, in which a list of tensors is as good as a tuple."""
    tensors = isinstance(indices, list) and all(isinstance(each, Tensor) for each in indices)
    return parsed(x, tuple(indices) if tensors and indices else indices)


def put(x: Tensor, key: Key, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with values that fit written, or added, where a key points."""
    primitive = _index_put_of(len(key.indices))
    out: Tensor = primitive(
        x, values, *key.indices, basic=key.basic, dims=key.dims, accumulate=accumulate
    )
    return out


def fitted(x: Tensor, key: Key, values: Tensor, accumulate: bool = False) -> Tensor:
    """`values` as they are written: of the dtype of `x`, without leading extents of one.

    Raises:
        IndexError: the indices of the key do not broadcast.
        RuntimeError: the values do not broadcast to what the key picks, or tensors pick it and
            the values are of another dtype.
    """
    if key.is_mask and not accumulate and values.numel() == 1:
        number: Tensor = element_for(x, values)  # As torch has it: `masked_fill`.
        return number
    shape = _result_shape(x, key)
    while values.ndim > len(shape) and values.shape[0] == 1 and not key.indices:
        values = values.squeeze(0)
    extents = zip(reversed(values.shape), reversed(shape), strict=False)
    if values.ndim > len(shape) or any(have not in (1, want) for have, want in extents):
        if not key.indices:
            expanded_shape(values, shape)
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(shape)}"
        )
    if values._array.dtype == x._array.dtype:
        return values
    if key.indices:
        have, given = (TYPE_NAMES[each._array.dtype.name] for each in (x, values))
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{have} for the destination and {given} for the source."
        )
    return values.to(x.dtype)


def _result_shape(x: Tensor, key: Key) -> Ints:
    """The shape of ``x[key]``, found on a stand-in that takes no memory."""
    shape = _sliced_shape(x, key)
    if not key.indices:
        return shape
    return _indexed_shape(shape, [each._array for each in key.indices], key.dims)


def _sliced_shape(x: Tensor, key: Key) -> Ints:
    if key.is_trivial:
        return tuple(x._array.shape)
    return tuple(np.broadcast_to(np.False_, x._array.shape)[(*key.basic, Ellipsis)].shape)


def place_of(x: Tensor, key: Key) -> Any:
    """A key that does to the array of `x` what `key` does to `x`, or None if that is nothing.

    Raises:
        IndexError: a position is out of range.
    """
    if not key.indices:
        return (*key.basic, Ellipsis)
    arrays = [each._array for each in key.indices]
    shape = _sliced_shape(x, key)
    if _is_nothing(shape, arrays, key.dims):
        return None
    if key.is_trivial:
        return _key_of(arrays, key.dims, shape)
    library = module_of(x._array)
    positions = library.arange(x.numel()).reshape(x.shape)[(*key.basic, Ellipsis)]
    picked = positions[_key_of(arrays, key.dims, positions.shape)]
    if x.ndim == 0:  # There is one element, which is picked.
        return True
    return library.unravel_index(picked, x._array.shape)
