"""What convolution, pooling and unfolding share: windows over the last dimensions."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.core.dims import Ints, as_ints
from gradtool.engine._ops.indexing.views import unfold
from gradtool.engine._tensor import Tensor


def for_each(value: Any, count: int, name: str) -> Ints:
    """One number for each dimension, given one for all or as many.

    Raises:
        RuntimeError: there are another number of them.
    """
    numbers = as_ints(tuple(value) if isinstance(value, tuple | list) else value)
    if len(numbers) == 1:
        return numbers * count
    if len(numbers) != count:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {count} values to match "
            f"the dimensions, but got {name}={list(numbers)}"
        )
    return numbers


def windows(x: Tensor, size: Ints, step: Ints, dilation: Ints) -> Tensor:
    """Windows over the last dimensions, as a view: their positions, then their elements.

    ``(…, H, W)`` becomes ``(…, positions down, positions across, height, width)``.
    """
    first = x.ndim - len(size)
    for at, (extent, stride, apart) in enumerate(zip(size, step, dilation)):
        x = unfold(x, first + at, apart * (extent - 1) + 1, stride)
        if apart > 1:
            x = x[..., ::apart]
    return x


def positions(extent: int, size: int, step: int, dilation: int) -> int:
    """How many windows fit into a dimension."""
    return (extent - dilation * (size - 1) - 1) // step + 1


def product(numbers: Ints) -> int:
    """All of them multiplied."""
    result = 1
    for number in numbers:
        result *= number
    return result
