"""Real coordinates: the one view in which every array looks the same to the checker.

A real entry is one coordinate; a complex entry is two, its real part and its imaginary
part. torch's convention for complex gradients, ``dL/dRe + i dL/dIm`` of a real L, says that
the two parts of a gradient are the derivatives with respect to the two coordinates. In
these coordinates a vjp is therefore the transposed real Jacobian, complex or not, and
nothing below needs to know about complex numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gradtool.verify.protocol.observation import Array

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def is_continuous(dtype: np.dtype[Any]) -> bool:
    """Return True if values of this dtype can be perturbed: floating or complex."""
    # Not NumPy's own: float8_e5m2 of ml_dtypes has the kind of floats, and no `finfo`.
    return dtype.kind in "fc" and dtype.isbuiltin in (0, 1)


def real_view(array: Array) -> Array:
    """The coordinates of a contiguous array as a flat view that shares its memory."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if array.dtype.kind == "c" else flat


class Block(msgspec.Struct, frozen=True):
    """The coordinates of one array among those of several."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    start: int
    stop: int

    @property
    def span(self) -> slice:
        """The slice of its coordinates."""
        return slice(self.start, self.stop)

    @property
    def is_complex(self) -> bool:
        """It has two coordinates for each entry."""
        return self.dtype.kind == "c"

    @property
    def eps(self) -> float:
        """The spacing of its numbers at 1; 0 where it has no coordinates."""
        return float(np.finfo(self.dtype).eps) if self.stop > self.start else 0.0

    def index(self, offset: int) -> tuple[int, ...]:
        """The index in the array of the coordinate `offset` places after `start`."""
        entry = offset // 2 if self.is_complex else offset
        return tuple(int(i) for i in np.unravel_index(entry, self.shape)) if self.shape else ()

    def entries(self, wrong: BoolArray) -> BoolArray:
        """Flag each entry of the array that has a flagged coordinate."""
        return np.asarray(wrong.reshape(-1, 2).any(axis=1)) if self.is_complex else wrong


class Coordinates:
    """The layout of several arrays as one real vector, in order.

    An array that is None or not continuous takes no coordinates.
    """

    def __init__(self, arrays: Sequence[Array | None]) -> None:
        blocks = []
        start = 0
        for array in arrays:
            shape, dtype = (array.shape, array.dtype) if array is not None else ((), _NOTHING)
            parts = 2 if dtype.kind == "c" else 1
            size = parts * prod(shape) if is_continuous(dtype) else 0
            blocks.append(Block(shape, dtype, start, start + size))
            start += size
        self.blocks = tuple(blocks)
        self.size = start

    def flatten(self, arrays: Sequence[Array | None]) -> FloatArray:
        """The coordinates of `arrays` as float64.

        Raises:
            ValueError: An array is missing or has another shape than the layout's.
        """
        vector = np.empty(self.size)
        if len(arrays) != len(self.blocks):
            raise ValueError(f"expected {len(self.blocks)} arrays, got {len(arrays)}")
        for block, array in zip(self.blocks, arrays, strict=True):
            # Outputs that are not compared may be missing, or have any shape.
            if block.stop == block.start:
                continue
            if array is None or array.shape != block.shape:
                raise ValueError(f"expected an array of shape {block.shape}")
            vector[block.span] = real_view(np.ascontiguousarray(_to_layout(array, block)))
        return vector

    def flatten_many(
        self, arrays: Sequence[Array | None], count: int, out: FloatArray | None = None
    ) -> FloatArray:
        """One row of coordinates for each of `count` examples along the first dimensions.

        They are written to `out`, where that is given.

        Raises:
            ValueError: As `flatten`, or there is another number of examples.
        """
        rows = np.empty((count, self.size)) if out is None else out
        if len(arrays) != len(self.blocks):
            raise ValueError(f"expected {len(self.blocks)} arrays, got {len(arrays)}")
        for block, array in zip(self.blocks, arrays, strict=True):
            if block.stop == block.start:
                continue
            if array is None or array.shape != (count, *block.shape):
                raise ValueError(f"expected {count} arrays of shape {block.shape}")
            flat = real_view(np.ascontiguousarray(_to_layout(array, block)))
            rows[:, block.span] = flat.reshape(count, -1)
        return rows

    def unflatten(self, vector: FloatArray) -> list[Array | None]:
        """Arrays of the layout's shapes and dtypes; None for those without coordinates."""
        return [_fill(block, vector) for block in self.blocks]

    def unflatten_many(self, rows: FloatArray) -> list[Array | None]:
        """As `unflatten` of each of `rows`, along new first dimensions."""
        return [_fill(block, rows) for block in self.blocks]


_NOTHING = np.dtype(bool)


def _to_layout(array: Array, block: Block) -> Array:
    """`array` in the layout's kind. A real array may stand for a complex one."""
    if array.dtype.kind == "c" and not block.is_complex:
        raise ValueError("a complex array stands where a real one is expected")
    return array.astype(block.dtype) if array.dtype.kind != block.dtype.kind else array


def _fill(block: Block, values: FloatArray) -> Array | None:
    """The array of a block from the last dimension of `values`, the others before its own."""
    if not is_continuous(block.dtype):
        return None
    array = np.empty((*values.shape[:-1], *block.shape), block.dtype)
    real_view(array)[...] = values[..., block.span].reshape(-1)
    return array
