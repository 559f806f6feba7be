"""Size: the shape of a tensor, a tuple whose slices, sums and multiples are shapes too."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import index
from typing import Any, SupportsIndex, overload

as_size = tuple.__new__
"""``as_size(Size, shape)`` is the shape of an array, whose extents are integers already."""


class Size(tuple[int, ...]):
    """A shape.

    Raises:
        TypeError: An extent is no integer.
    """

    __slots__ = ()

    def __new__(cls, extents: Iterable[SupportsIndex] = ()) -> Size:
        return as_size(cls, [_extent(at, each) for at, each in enumerate(extents)])

    def numel(self) -> int:
        """The product of the extents."""
        return math.prod(self)

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, key: slice, /) -> Size: ...
    def __getitem__(self, key: Any, /) -> Any:
        found = tuple.__getitem__(self, key)
        return as_size(Size, found) if type(key) is slice else found

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            name = type(other).__name__
            raise TypeError(f"can only concatenate tuple (not {name}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        return as_size(Size, tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


def _extent(at: int, extent: Any) -> int:
    try:
        return index(extent)
    except TypeError:
        kind = type(extent).__name__
        raise TypeError(
            f"torch.Size() takes an iterable of 'int' (item {at} is '{kind}')"
        ) from None
