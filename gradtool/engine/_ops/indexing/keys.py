"""Keys: what ``x[key]`` picks.

torch takes a key apart in two steps, and so does this: first the basic part (integers, slices,
None) picks a view; then tensors index the dimensions of that view. NumPy, in contrast, counts
integers among the index arrays, which orders the dimensions of ``x[0, :, index]`` differently.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from operator import index
from typing import Any, NamedTuple

import numpy as np

from gradtool.device import made_on
from gradtool.engine._levels import Outline
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.primitive_node import picks_all
from gradtool.engine._ops.creation.literals import tensor
from gradtool.engine._tensor import Tensor, wrap

_KINDS = (
    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
    "indices (got {})"
)


class Key(NamedTuple):
    """A key taken apart."""

    basic: tuple[Any, ...]
    """Integers, slices and None; picks a view."""
    dims: Ints
    """The dimensions of that view that `indices` index."""
    indices: tuple[Tensor, ...]
    """Integer tensors."""
    given: tuple[Tensor, ...] = ()
    """The tensors that they come from, masks among them."""
    is_mask: bool = False
    """Whether these are where one boolean tensor is true."""

    @property
    def is_trivial(self) -> bool:
        """Return True where the basic part picks everything."""
        return all(isinstance(part, slice) and part == slice(None) for part in self.basic)


def plain(shape: Ints, key: Any) -> tuple[Any, ...] | None:
    """A key of integers in range, slices and None as it is; None for what needs a closer look."""
    parts = key if key.__class__ is tuple else (key,)
    axis = 0
    for part in parts:
        if part is None:
            continue
        if axis == len(shape):
            return None
        if part.__class__ is int:
            if not -shape[axis] <= part < shape[axis]:
                return None
        elif part.__class__ is not slice or not _is_forward(part):
            return None
        axis += 1
    return parts


def _is_forward(part: slice) -> bool:
    for end in (part.start, part.stop, part.step):
        if not (end is None or end.__class__ is int):
            return False
    return part.step is None or part.step > 0


def parsed(x: Tensor, key: Any) -> Key:
    """Take a key apart.

    Raises:
        IndexError: it has too many parts, or is out of range, or a part of it is no index.
    """
    parts = key if isinstance(key, tuple) or _stands_for_tuple(key) else (key,)
    reader = _Reader(x)
    for part in _without_ellipsis(x, [_as_index(part) for part in parts]):
        reader.read(part)
    indices = tuple(reader.indices)
    if x.is_cuda:  # positions may lie in host memory, but are checked against what is indexed
        indices = tuple(each.to(x.device) for each in indices)
    is_mask = len(reader.masks) == 1 and len(indices) == reader.masks[0].ndim
    given = (*indices, *reader.masks)
    return Key(tuple(reader.basic), tuple(reader.dims), indices, given, is_mask)


def _stands_for_tuple(key: Any) -> bool:
    """Return True for a list read as the tuple of its parts: torch does unless all are numbers."""
    parts = (list, tuple, range, slice, Tensor, type(None), type(Ellipsis))
    if not isinstance(key, list) or not any(isinstance(part, parts) for part in key):
        return False
    warnings.warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated; use "
        "x[tuple(seq)] instead of x[seq].",
        stacklevel=4,
    )
    return True


def _as_index(part: Any) -> Any:
    """A part of a key as None, Ellipsis, slice, bool, integer or Tensor."""
    if part is None or part is Ellipsis or isinstance(part, slice | bool | Tensor):
        return part
    if isinstance(part, np.ndarray):
        return wrap(part) if part.ndim else index(part.item())
    if isinstance(part, list | tuple | range):
        return tensor(part) if len(part) else wrap(np.zeros(0, np.int64))
    if isinstance(part, str):
        raise TypeError(f"tensors are indexed by position, not by name (got {part!r})")
    try:
        return index(part)
    except TypeError:
        name = type(part).__name__
        raise IndexError(_KINDS.format(name)) from None


def _consumed(part: Any) -> int:
    """Return the number of dimensions that a part of a key stands for."""
    if part is None or isinstance(part, bool):
        return 0
    if isinstance(part, Tensor) and part._array.dtype.kind == "b":
        return part.ndim
    if isinstance(part, Tensor) and part._array.dtype == np.uint8:
        return part.ndim
    return 1


def _without_ellipsis(x: Tensor, parts: list[Any]) -> Iterator[Any]:
    """The parts, with slices for what an ellipsis, or the end of the key, leaves out."""
    given = sum(_consumed(part) for part in parts if part is not Ellipsis)
    missing = x.ndim - given
    if missing < 0:
        raise _too_many(x, parts)
    filled = False
    for part in parts:
        if part is not Ellipsis:
            yield part
        elif not filled:
            filled = True
            yield from [slice(None)] * missing
    if not filled:
        yield from [slice(None)] * missing


def _too_many(x: Tensor, parts: list[Any]) -> IndexError:
    if x.ndim or len(parts) > 1:
        return IndexError(f"too many indices for tensor of dimension {x.ndim}")
    if isinstance(parts[0], slice):
        return IndexError("slice() cannot be applied to a 0-dim tensor.")
    return IndexError(
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` "
        "in C++ to convert a 0-dim tensor to a number"
    )


class _Reader:
    """Reads the parts of a key from left to right."""

    def __init__(self, x: Tensor) -> None:
        self.shape = x._array.shape
        self.device = x.device
        self.axis = 0
        """The dimension of `x` that comes next."""
        self.out = 0
        """The dimension of the view that comes next."""
        self.basic: list[Any] = []
        self.dims: list[int] = []
        self.indices: list[Tensor] = []
        self.masks: list[Tensor] = []

    def read(self, part: Any) -> None:
        """Read one part."""
        if isinstance(part, Tensor):
            self._read_tensor(part)
        elif isinstance(part, bool):
            self._read_flag(part)
        elif part is None:
            self._keep(None)
        elif isinstance(part, slice):
            self._read_slice(part)
        else:
            self._read_integer(part)

    def _keep(self, part: Any) -> None:
        """A part that leaves a dimension in the view."""
        self.basic.append(part)
        self.axis += part is not None
        self.out += 1

    def _read_integer(self, position: int) -> None:
        extent = self.shape[self.axis]
        if not -extent <= position < extent:
            raise IndexError(
                f"index {position} is out of bounds for dimension {self.axis} with size {extent}"
            )
        self.basic.append(position)
        self.axis += 1

    def _read_slice(self, part: slice) -> None:
        ends = [None if end is None else index(end) for end in (part.start, part.stop, part.step)]
        if ends[2] == 0:
            raise ValueError("slice step cannot be zero")
        if ends[2] is not None and ends[2] < 0:
            raise ValueError("step must be greater than zero")
        found = slice(*ends)
        self._keep(slice(None) if picks_all(found, self.shape[self.axis]) else found)

    def _read_flag(self, flag: bool) -> None:
        """A dimension of extent one, picked or not."""
        kind, number = self.device.type, self.device.index
        chosen = made_on(kind, number, lambda library: library.zeros(int(flag), np.int64))
        self._index_by(wrap(chosen), None)

    def _read_tensor(self, part: Tensor) -> None:
        dtype = part._array.dtype
        if dtype == np.uint8:
            warnings.warn(
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
                "instead.",
                stacklevel=5,
            )
        if dtype.kind == "b" or dtype == np.uint8:
            self._read_mask(part)
        elif dtype not in (np.int64, np.int32):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        elif part.ndim == 0 and not isinstance(part._array, Outline):
            self._read_integer(int(part.item()))
        else:
            self._index_by(part, slice(None))

    def _read_mask(self, mask: Tensor) -> None:
        if mask.ndim == 0:
            self._read_flag(bool(mask))  # torch takes no tensor of one element for a mask.
            return
        covered = self.shape[self.axis : self.axis + mask.ndim]
        if mask._array.shape != covered:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {self.axis} does not match "
                f"the shape of the indexed tensor {list(self.shape)} at index {self.axis}"
            )
        self.masks.append(mask)
        for positions in mask._array.nonzero():
            self._index_by(wrap(positions), slice(None))

    def _index_by(self, positions: Tensor, part: Any) -> None:
        self.dims.append(self.out)
        self.indices.append(positions)
        self._keep(part)


__all__ = ["Key", "parsed", "plain"]
