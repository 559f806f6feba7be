"""Arrays of either kind: made from nothing, moved, and what NumPy's functions do not hand on.

NumPy's functions dispatch to CuPy when they are handed a CuPy array, so operations on existing
arrays need no help. What is here is the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.device.protocol import DeviceUnavailableError

ADDED_ATOMICALLY = "iefdIQL"
"""Codes of the dtypes that a CUDA device adds to where positions repeat."""


COMPARED_ATOMICALLY = "ifdIQL"
"""Codes of the dtypes of which a CUDA device finds extremes where positions repeat."""


def array_module(kind: str) -> Any:
    """The module that makes arrays on a kind of device: ``cpu`` or ``cuda``.

    Raises:
        DeviceUnavailableError: CUDA is asked for and CuPy is not installed.
    """
    if kind == "cpu":
        return np
    try:
        import cupy
    except ImportError as error:
        raise DeviceUnavailableError(
            "device 'cuda' needs CuPy, which is not installed: install gradtool[cuda12] or "
            "gradtool[cuda13], as your driver requires, or use device 'cpu'"
        ) from error
    return cupy


def module_of(array: Any) -> Any:
    """The module that an array belongs to."""
    return np if isinstance(array, np.ndarray) else array_module("cuda")


def add_at(array: Any, key: Any, values: Any) -> None:
    """Add `values` to ``array[key]`` in place; elements that the key repeats add up."""
    module = module_of(array)
    if module is np or array.dtype.char in ADDED_ATOMICALLY:
        module.add.at(array, key, values)
    elif array.dtype.kind == "c":
        module.add.at(array.real, key, values.real)
        module.add.at(array.imag, key, values.imag)
    else:
        _add_integers_at(module, array, key, values)


def combine_at(ufunc: Any, array: Any, key: Any, values: Any) -> None:
    """``ufunc.at(array, key, values)``, on the host where CuPy has it not."""
    if isinstance(array, np.ndarray):
        ufunc.at(array, key, values)
        return
    module = module_of(array)
    if ufunc in (np.maximum, np.minimum) and array.dtype.char in COMPARED_ATOMICALLY:
        getattr(module, ufunc.__name__).at(array, key, values)
        return
    parts = key if isinstance(key, tuple) else (key,)
    host = array.get()
    on_host = tuple(part.get() if isinstance(part, module.ndarray) else part for part in parts)
    ufunc.at(host, on_host, values.get())
    array[...] = module.asarray(host)


def accumulated(ufunc: Any, array: Any, axis: int) -> Any:
    """``ufunc.accumulate(array, axis)`` of an associative ufunc; CuPy has it for few of them."""
    if isinstance(array, np.ndarray):
        return ufunc.accumulate(array, axis=axis)
    out = array.copy()
    running = out.swapaxes(axis, 0)
    step = 1
    while step < len(running):
        running[step:] = ufunc(running[step:], running[:-step])
        step *= 2
    return out


def _add_integers_at(module: Any, array: Any, key: Any, values: Any) -> None:
    """Integers of a width that the device does not add atomically, as 64 bits that wrap."""
    total = array.astype(np.uint64)
    module.add.at(total, key, values.astype(np.uint64))
    array[...] = total.astype(array.dtype)
