"""``x[key]`` in every form that a key takes, and the functional form of ``x[key] = values``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.device import add_at, module_of
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import SMOOTH, TYPE_NAMES
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive, Vjp
from gradtool.engine._ops.core.scalars import scalar_for
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


def _worded(arrays: Sequence[Any], dims: Ints, shape: Ints) -> IndexError:
    """Torch's error for what NumPy refused."""
    for dim, array in zip(dims, arrays, strict=True):
        check_bounds(array, shape[dim], dim)
    shapes = ", ".join(str(list(array.shape)) for array in arrays)
    return IndexError(
        f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
    )


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
    least, largest = int(positions.min()), int(positions.max())
    wrong = largest if largest >= extent else least
    if largest >= extent or least < (-extent if lowest is None else lowest):
        raise error(f"index {wrong} is out of bounds for dimension {dim} with size {extent}")


def _indexed(x: Any, *indices: Any, dims: Ints) -> Any:
    try:
        return x[_key_of(indices, dims, x.shape)]
    except IndexError:
        raise _worded(indices, dims, x.shape) from None


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
        )],
        arguments=("x", *names),
        kind="linear",batch=index_rule
    )  # fmt: skip


@functools.cache
def _index_backward_of(count: int) -> Primitive:
    """Zeros, with values added where so many tensors index: the transpose of indexing."""

    def added(g: Any, *indices: Any, shape: Ints, dims: Ints) -> Any:
        out = np.zeros_like(g, shape=shape)
        add_at(out, _key_of(indices, dims, shape), g)
        return out

    names = tuple(f"i{position}" for position in range(count))
    return Primitive(
        "index_backward",
        added,
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
        key = _key_of(indices, dims, target.shape) or Ellipsis
        try:
            if accumulate:
                add_at(target, key, values)
            else:
                target[key] = values
        except IndexError:
            raise _worded(indices, dims, target.shape) from None
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
    basic = plain(x._array.shape, key)
    if basic is not None:
        if key.__class__ is int:
            return take_select(x, key=basic)
        out = take_slice(x, key=basic)
        if out._requires_grad and key.__class__ is tuple:
            _name_whole(out, x, basic)
        return out
    found = parsed(x, key)
    if not found.indices:
        out = take_slice(x, key=found.basic)
        if out._requires_grad:
            _name_whole(out, x, found.basic)
        return out
    taken = x if found.is_trivial else take_slice(x, key=found.basic)
    return _index_of(len(found.indices))(taken, *found.indices, dims=found.dims)


def _name_whole(out: Tensor, x: Tensor, key: tuple[Any, ...]) -> None:
    """Name the node of a key of several parts that picks everything, of which torch makes one."""
    if (
        all(
            isinstance(part, slice) and part in (slice(None), slice(0, None), slice(0, extent))
            for part, extent in zip(key, x._array.shape)
        )
        and len(key) <= x.ndim
    ):
        give_name(out, "AliasBackward0")


@op(in_place=True)
def index_put(x: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """A copy of `x` with `values` at ``x[indices]``, or added to what is there.

    `indices` is any key that `getitem` takes; added values add up where the key repeats.

    Raises:
        IndexError: the key is out of range.
        RuntimeError: the values have another dtype, or do not broadcast to what the key picks.
    """
    tensors = isinstance(indices, list) and all(isinstance(each, Tensor) for each in indices)
    key = parsed(x, tuple(indices) if tensors and indices else indices)
    if not isinstance(values, Tensor):
        values = x.new_tensor(values)
    if not accumulate:
        values = one_for_mask(x, key, values)
    if values._array.dtype != x._array.dtype:
        if key.indices and not (key.is_mask and values.ndim == 0):
            raise unlike_dtypes(x, values)
        values = values.to(x.dtype)
    put = _index_put_of(len(key.indices))
    values = fitted(x, key, values)
    return put(x, values, *key.indices, basic=key.basic, dims=key.dims, accumulate=accumulate)


def one_for_mask(x: Tensor, key: Key, values: Tensor) -> Tensor:
    """A single element for all that one mask picks, as a number: of any dtype, as torch has it.

    Raises:
        RuntimeError: it is complex where `x` is real.
    """
    if not (key.is_mask and values.ndim and values.numel() == 1):
        return values
    if values.is_complex() and not x.is_complex():
        scalar_for(x, complex(values))
    return values.reshape(())


def unlike_dtypes(x: Tensor, values: Tensor) -> RuntimeError:
    """The error for values of another dtype at tensors of indices, worded as torch's."""
    have, given = (TYPE_NAMES[each._array.dtype.name] for each in (x, values))
    return RuntimeError(
        "Index put requires the source and destination dtypes match, got "
        f"{have} for the destination and {given} for the source."
    )


def fitted(x: Tensor, key: Key, values: Tensor) -> Tensor:
    """`values` without leading extents of one that the key's result has no dimension for.

    Raises:
        RuntimeError: they do not broadcast to what the key picks.
    """
    shape = _result_shape(x, key)
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values.squeeze(0)
    extents = zip(reversed(values.shape), reversed(shape), strict=False)
    if values.ndim > len(shape) or any(have not in (1, want) for have, want in extents):
        if not key.indices:
            expanded_shape(values, shape)
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(shape)}"
        )
    return values


def _result_shape(x: Tensor, key: Key) -> Ints:
    """The shape of ``x[key]``, found on a stand-in that takes no memory."""
    stand_in = np.broadcast_to(np.False_, x._array.shape)[(*key.basic, Ellipsis)]
    if not key.indices:
        return stand_in.shape
    shape = np.broadcast_shapes(*[each._array.shape for each in key.indices])
    rest = [extent for dim, extent in enumerate(stand_in.shape) if dim not in key.dims]
    first, last = key.dims[0], key.dims[-1]
    front = first if last - first + 1 == len(key.dims) else 0
    return (*rest[:front], *shape, *rest[front:])


def normalise_key(x: Tensor, key: Any) -> Any:
    """A key that does to the array of `x` what `key` does to `x`.

    Raises:
        IndexError: the key is out of range, has too many parts, or a part of it is no index.
    """
    found = parsed(x, key)
    if not found.indices:
        return (*found.basic, Ellipsis)
    arrays = [each._array for each in found.indices]
    shape = _result_shape(x, found._replace(dims=(), indices=()))
    for dim, array in zip(found.dims, arrays, strict=True):
        check_bounds(array, shape[dim], dim)
    if found.is_trivial:
        return _key_of(arrays, found.dims, x._array.shape)
    library = module_of(x._array)
    positions = library.arange(x.numel()).reshape(x.shape)[(*found.basic, Ellipsis)]
    picked = positions[_key_of(arrays, found.dims, positions.shape)]
    if x.ndim == 0:  # There is one element, picked or not.
        return picked.size > 0
    return library.unravel_index(picked, x._array.shape)
