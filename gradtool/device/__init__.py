"""Where arrays live: host memory (NumPy) or a CUDA device (CuPy, loaded only when it is asked for).

NumPy's functions dispatch to CuPy when they are handed a CuPy array, so operations on existing
arrays need no help. What is here is the rest: making arrays from nothing, moving them, and the
one operation that does not dispatch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def array_module(kind: str) -> Any:
    """The module that makes arrays on a kind of device: ``cpu`` or ``cuda``.

    Raises:
        RuntimeError: CUDA is asked for and CuPy is not installed.
    """
    if kind == "cpu":
        return np
    try:
        import cupy
    except ImportError as error:
        raise RuntimeError(
            "device 'cuda' needs CuPy, which is not installed: install gradtool[cuda12] or "
            "gradtool[cuda13], as your driver requires, or use device 'cpu'"
        ) from error
    return cupy


def module_of(array: Any) -> Any:
    """The module that an array belongs to."""
    return np if isinstance(array, np.ndarray) else array_module("cuda")


def made_on(kind: str, index: int | None, make: Callable[[Any], Any]) -> Any:
    """``make(array module)``, with the CUDA device of that index as the current one."""
    module = array_module(kind)
    if module is np or index is None:
        return make(module)
    with module.cuda.Device(index):
        return make(module)


def moved_to(kind: str, index: int | None, array: Any) -> Any:
    """The elements of an array on a device; the array itself if it lies there already."""
    if kind == "cpu":
        return array if isinstance(array, np.ndarray) else array.get()
    return made_on(kind, index, lambda module: module.asarray(array))


def add_at(array: Any, key: Any, values: Any) -> None:
    """Add `values` to ``array[key]`` in place; elements that the key repeats add up."""
    module_of(array).add.at(array, key, values)


def pinned(array: Any) -> Any:
    """A copy in page-locked host memory; the array itself where CuPy is not installed.

    Without CUDA there is nothing that page-locked memory would be faster to copy to.
    """
    try:
        module = array_module("cuda")
    except RuntimeError:
        return array
    import cupyx

    if isinstance(array, module.ndarray):
        raise RuntimeError("cannot pin 'cuda' tensors, only dense CPU tensors can be pinned")
    copy = cupyx.empty_pinned(array.shape, array.dtype)
    copy[...] = array
    return copy
