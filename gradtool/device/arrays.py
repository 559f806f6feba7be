"""Array operations that NumPy does not dispatch to CuPy.

NumPy's functions dispatch to CuPy when called with a CuPy array, so most operations need no help.
This module has the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.device.protocol import DeviceUnavailableError

ADDED_ATOMICALLY = "iefdIQL"
"""Codes of the dtypes that CUDA adds atomically, so that positions may repeat."""

COMPARED_ATOMICALLY = "ifIQL"
"""Codes of the dtypes that CuPy compares atomically, so that positions may repeat.

float64 is not among them: CuPy 14.2 rounds the result to float32.
"""


def array_module(kind: str) -> Any:
    """Return the array module of a kind of device: ``cpu`` or ``cuda``.

    Raises:
        DeviceUnavailableError: CUDA is requested and CuPy is not installed.
    """
    if kind == "cpu":
        return np
    try:
        import cupy
    except ImportError as error:
        raise DeviceUnavailableError(
            "CuPy is not installed: install gradtool[cuda12] or "
            "gradtool[cuda13], whichever your driver supports, or use device 'cpu'"
        ) from error
    return cupy


def module_of(array: Any) -> Any:
    """Return the module of an array."""
    return np if isinstance(array, np.ndarray) else array_module("cuda")


def add_at(array: Any, key: Any, values: Any) -> None:
    """Add `values` to ``array[key]`` in place; repeated positions accumulate."""
    module = module_of(array)
    if module is np:
        _add_on_host(array, key, values)
    elif array.dtype.char in ADDED_ATOMICALLY:
        module.add.at(array, key, values)
    elif array.dtype.kind == "c":
        module.add.at(array.real, key, values.real)
        module.add.at(array.imag, key, values.imag)
    else:
        _add_integers_at(module, array, key, values)


def _add_on_host(array: Any, key: Any, values: Any) -> None:
    """Add in one dimension, where NumPy is several times as fast."""
    if array.ndim > 1 and array.flags.c_contiguous:
        key = np.arange(array.size).reshape(array.shape)[key]
        array, values = array.reshape(-1), np.broadcast_to(values, key.shape).reshape(-1)
        key = key.reshape(-1)
    np.add.at(array, key, values)


def combine_at(ufunc: Any, array: Any, key: Any, values: Any) -> None:
    """Call ``ufunc.at(array, key, values)``, on the host if CuPy lacks it."""
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
    """Return ``ufunc.accumulate(array, axis)`` of an associative ufunc; CuPy has it for few."""
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
    """Add integers whose width has no atomic addition as wrapping 64-bit integers."""
    total = array.astype(np.uint64)
    module.add.at(total, key, values.astype(np.uint64))
    array[...] = total.astype(array.dtype)
