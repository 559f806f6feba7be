"""The memory that tensors are part of: where they lie in it, and other memory for them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._lazy import bits, hold, memory
from gradtool.engine._levels import Outline, Wrapped
from gradtool.engine._ops.core.dims import Ints, as_ints
from gradtool.engine._ops.core.dtype_support import C_NAMES
from gradtool.engine._ops.core.inplace import check_in_place
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._tensor import Tensor, data_pointer

# ---- where a tensor lies --------------------------------------------------------------------


def memory_of(array: Any) -> Any:
    """All elements of the memory that an array shows a part of, in the order in which they lie."""
    owner = array
    while (base := _base_of(owner)) is not None:
        owner = base
    if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
        owner = owner.transpose(sorted(range(owner.ndim), key=lambda dim: -owner.strides[dim]))
    flat = owner.reshape(-1, order="A")
    if flat.dtype == array.dtype:
        return flat
    rest = flat.nbytes % array.itemsize  # of a number that does not fit
    return (flat.view("u1")[: flat.nbytes - rest] if rest else flat).view(array.dtype)


def _base_of(array: Any) -> Any:
    base = array.base
    if type(base) is not type(array):
        base = getattr(base, "base", None)  # that of NumPy's `as_strided` is a stand-in
    return base if type(base) is type(array) else None


def offset_of(array: Any) -> int:
    """Count the elements before an array in its memory."""
    if isinstance(array, Outline):
        return offset_of(array.behind)
    return (data_pointer(array) - data_pointer(memory_of(array))) // int(array.itemsize)


def without_elements(array: Any, view: Any, start: int) -> Any:
    """A view of no element, moved to so many bytes behind the first element of an array.

    NumPy has the slices that are empty begin where what they are of begins, unlike torch.
    """
    held = memory_of(array)
    first = data_pointer(array) - data_pointer(held) + start
    if not isinstance(held, np.ndarray) or not 0 <= first <= held.nbytes:
        return array.reshape(-1)[:0].reshape(view.shape)
    return np.ndarray(view.shape, view.dtype, held, first, view.strides)


@method("storage_offset")
def _storage_offset(x: Tensor) -> int:
    """Count the elements before it in the memory that it is part of."""
    return offset_of(memory(x))


@method("is_set_to")
def _is_set_to(x: Tensor, other: Tensor) -> bool:
    """Return True where both are the same memory in the same shape and strides."""
    same = x.data_ptr() == other.data_ptr() and x.stride() == other.stride()
    return same and x.shape == other.shape and bits(x) == bits(other)


@method("_view_func")
def _view_func(x: Tensor, new_base: Tensor) -> Tensor | None:
    """Take the view that `x` is of its base of another tensor; None if that lies otherwise."""
    view = x._view
    if view is None or view.base.shape != new_base.shape:
        return None
    return view.replay(new_base) if view.base.stride() == new_base.stride() else None


# ---- storages -------------------------------------------------------------------------------


class UntypedStorage:
    """The memory of a tensor and its views, as bytes."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory.view(np.uint8)

    def data_ptr(self) -> int:
        """Address of the first element."""
        return data_pointer(self._memory)

    def size(self) -> int:
        """Number of elements."""
        return int(self._memory.size)

    __len__ = size

    def nbytes(self) -> int:
        """Number of bytes."""
        return int(self._memory.nbytes)

    def element_size(self) -> int:
        """Bytes of one element."""
        return int(self._memory.itemsize)

    def resize_(self, size: int) -> UntypedStorage:
        """Keep the first `size` elements; the others are lost, so that what reads them shows.

        The memory itself stays, as do the tensors in it: bits that are all set are NaN.

        Raises:
            RuntimeError: There are fewer elements.
        """
        if size > self.size():
            raise RuntimeError(f"cannot resize a storage of {self.size()} elements to {size}")
        self._memory[size:].view(np.uint8)[...] = 0xFF
        return self

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        elements: list[Any] = self._memory.tolist()
        return elements

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, position: int) -> Any:
        return self._memory[position].item()

    def __setitem__(self, position: int, value: Any) -> None:
        self._memory[position] = value


class TypedStorage(UntypedStorage):
    """The memory of a tensor and its views, as elements of its dtype."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    @property
    def dtype(self) -> _dtypes.dtype:
        """Element type."""
        return _dtypes.from_numpy_dtype(self._memory.dtype)

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage(self._memory)


@method("storage")
def _typed_storage(x: Tensor) -> TypedStorage:
    """The memory that the tensor is part of."""
    return TypedStorage(memory_of(memory(_plain(x))))


@method("untyped_storage")
def _untyped_storage(x: Tensor) -> UntypedStorage:
    """The memory that the tensor is part of, as bytes."""
    return UntypedStorage(memory_of(memory(_plain(x))))


def _plain(x: Tensor) -> Tensor:
    while isinstance(x, Wrapped):
        x = x._value
    return x


# ---- other memory ---------------------------------------------------------------------------


@method("set_")
def _set(x: Tensor, source: Tensor | None = None) -> Tensor:
    """Let the tensor have the memory and the shape of `source`; without one, none at all.

    Raises:
        RuntimeError: the dtypes differ.
    """
    source = x.new_empty(0) if source is None else source
    if source.dtype is not x.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {C_NAMES[source.dtype.name]} to a tensor of type "
            f"{C_NAMES[x.dtype.name]}"
        )
    check_in_place(x)
    hold(x, memory(source))
    x._view = None
    x._bump()
    # As in torch: what was computed before is no function of what it is now.
    x._leaf_node = None
    return x


@method("resize")
def _resize_copy(x: Tensor, *size: Any) -> Tensor:
    """The elements in another shape of as many."""
    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    wanted = as_ints(size[0]) if len(size) == 1 and not isinstance(size[0], int) else as_ints(size)
    if prod(wanted) != x.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, wanted))} ({prod(wanted)} elements in total), "
            f"but the given tensor has a size of {'x'.join(map(str, x.shape))} ({x.numel()} "
            "elements). autograd's resize can only change the shape of a given tensor, while "
            "preserving the number of elements. "
        )
    resized: Tensor = x.contiguous().view(*wanted)
    give_name(resized, "ResizeBackward")
    return resized


@method("resize_")
def _resize(x: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Change the shape in place; elements keep their places in memory.

    Raises:
        RuntimeError: the tensor requires a gradient.
    """
    if x._requires_grad and not x.is_inference():
        raise RuntimeError("cannot resize variables that require grad")
    wanted = as_ints(size[0]) if len(size) == 1 and not isinstance(size[0], int) else as_ints(size)
    if wanted != tuple(x.shape):
        resize(x, wanted)
        x._bump()
        x._leaf_node = None
    return x


def resize(x: Tensor, shape: Ints) -> None:
    """Give a tensor another shape in its memory, which grows for all that share it if need be."""
    before, storage = memory_of(memory(x)), x._storage
    hold(x, resized(memory(x), shape))
    after = memory_of(memory(x))
    if storage is None or data_pointer(after) == data_pointer(before):
        return
    views = storage.living_views()
    bases = {id(each._view.base): each._view.base for each in views if each._view is not None}
    for other in (*views, *bases.values()):
        held = memory(other)
        if other is not x and data_pointer(memory_of(held)) == data_pointer(before):
            start = offset_of(held) * held.itemsize
            flat = after if held.dtype == after.dtype else after.view(held.dtype)
            hold(other, np.ndarray(held.shape, held.dtype, flat, start, held.strides))


def resized(array: Any, shape: Ints) -> Any:
    """The memory of an array in another shape; a larger one, with the same elements, if need be."""
    flat, start, count = memory_of(array), offset_of(array), prod(shape)
    if start + count > flat.size:
        larger = np.zeros_like(flat, shape=start + count)
        larger[: flat.size] = flat
        flat = larger
    return flat[start : start + count].reshape(shape)


@method("resize_as_")
def _resize_as(x: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """`resize_` to the shape of another tensor."""
    return _resize(x, tuple(other.shape))


# ---- new memory -----------------------------------------------------------------------------


@method("new")
def _new(x: Tensor, *given: Any) -> Tensor:
    """A tensor of the same dtype: of data, or without values of a size."""
    if len(given) == 1 and not isinstance(given[0], int | tuple):
        return x.new_tensor(np.asarray(given[0]))
    return x.new_empty(*(given or (0,)))


@method("new_empty_strided")
def _new_empty_strided(x: Tensor, size: Any, stride: Any, **options: Any) -> Tensor:
    return empty_strided(size, stride, **{"dtype": x.dtype, "device": x.device, **options})


@op
def empty_strided(size: Any, stride: Any, **options: Any) -> Tensor:
    """A tensor without values, with these steps between neighbours in each dimension."""
    size, stride = as_ints(size), as_ints(stride)
    reach = sum((extent - 1) * step for extent, step in zip(size, stride)) + 1
    memory = empty(max(reach, 0) if 0 not in size else 0, **options)
    return memory.as_strided(size, stride)
