"""Arrays by their steps in memory, in elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine._ops.core.dims import Ints


def shown(memory: Any, size: Ints, stride: Ints, first: int = 0) -> Any:
    """The elements of a vector at these steps, from its element `first` on."""
    steps = tuple([step * memory.itemsize for step in stride])
    if isinstance(memory, np.ndarray):  # NumPy's `as_strided` hides whose memory it is
        start = min(first, memory.size) * memory.itemsize  # there may be no element at all
        return np.ndarray(size, memory.dtype, memory, start, steps)
    return module_of(memory).lib.stride_tricks.as_strided(memory[first:], size, steps)


def steps_of(x: Any) -> Ints:
    """The strides of an array in elements."""
    return tuple([step // x.itemsize for step in x.strides])


def reach(size: Ints, stride: Ints) -> int:
    """The number of elements from the first to the last that such a view shows."""
    return 0 if 0 in size else sum((n - 1) * step for n, step in zip(size, stride)) + 1


def with_steps(x: Any, stride: Ints) -> Any:
    """A copy of an array that lies in memory by these steps."""
    library = module_of(x)
    memory = library.zeros(reach(x.shape, stride), x.dtype)
    out = shown(memory, x.shape, stride)
    out[...] = x
    return out
