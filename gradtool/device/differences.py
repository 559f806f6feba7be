"""NumPy's functions that CuPy refuses, or answers otherwise than NumPy, seen on CuPy 14.2."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gradtool.device.arrays import module_of

_HOST: Final = (np.ndarray, np.generic)


def _on_host(*arrays: Any) -> bool:
    return all(isinstance(each, _HOST) for each in arrays)


def full_like(array: Any, value: Any, shape: tuple[int, ...]) -> Any:
    """Return an array of another shape; CuPy reads an empty one as the array's own."""
    if shape:
        return np.full_like(array, value, shape=shape)
    return module_of(array).full((), value, dtype=array.dtype)


def zeros_like(array: Any, shape: tuple[int, ...]) -> Any:
    """Return zeros of another shape; CuPy reads an empty one as the array's own."""
    if shape:
        return np.zeros_like(array, shape=shape)
    return module_of(array).zeros((), dtype=array.dtype)


def windows(array: Any, extents: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Return a view of all windows along some axes, whose elements are dimensions at the end.

    ``sliding_window_view`` of CuPy refuses to give views for writing, though all its views are, and
    that of NumPy takes longer than a small convolution.
    """
    shape = list(array.shape)
    for axis, extent in zip(axes, extents, strict=True):
        shape[axis] -= extent - 1
    strides = (*array.strides, *[array.strides[axis] for axis in axes])
    return strided(array, (*shape, *extents), strides)


def strided(array: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """Return a view of an array from its first element on, with any shape and strides.

    The ``as_strided`` of NumPy takes longer than a small convolution.
    """
    if array.__class__ is np.ndarray and array.flags.c_contiguous and array.flags.writeable:
        return np.ndarray(shape, array.dtype, array, 0, strides)
    return module_of(array).lib.stride_tricks.as_strided(array, shape=shape, strides=strides)


def solved(matrix: Any, right: Any) -> Any:
    """Return ``np.linalg.solve(matrix, right)``; CuPy does not broadcast the batches."""
    if not isinstance(matrix, np.ndarray):
        batch = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
        matrix = np.broadcast_to(matrix, (*batch, *matrix.shape[-2:]))
        right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    return np.linalg.solve(matrix, right)


def argmax(array: Any, axis: int | None = None) -> Any:
    """Return ``np.argmax``; of several NaNs CuPy finds any, not the first."""
    if _on_host(array) or array.dtype.kind != "f":
        return np.argmax(array, axis=axis)
    missing = np.isnan(array)
    return np.where(missing.any(axis=axis), missing.argmax(axis=axis), np.argmax(array, axis=axis))


def argmin(array: Any, axis: int | None = None) -> Any:
    """Return ``np.argmin``; of several NaNs CuPy finds any, not the first."""
    if _on_host(array) or array.dtype.kind != "f":
        return np.argmin(array, axis=axis)
    return argmax(-array, axis)


def as_dtype(array: Any, dtype: Any) -> Any:
    """Return ``array.astype(dtype)``, in which negative numbers wrap around in ``uint8``.

    A GPU makes them zero unless they are integers first, as in `static_cast_with_inter_type` of
    PyTorch's c10/util/TypeCast.h.
    """
    if dtype == np.uint8 and array.dtype.kind == "f" and not _on_host(array):
        array = array.astype(np.int64)
    return array.astype(dtype, order=order_of_copy(array))


def order_of_copy(array: Any) -> Any:
    """Return the order of memory in which PyTorch copies an array: its own, unless it is expanded.

    NumPy puts the dimensions of stride zero last, where they do not stay contiguous.
    """
    expanded = 0 in array.strides and any(
        step == 0 and extent > 1 for step, extent in zip(array.strides, array.shape, strict=True)
    )
    return "C" if expanded else "K"


def floor_divide(x: Any, y: Any) -> Any:
    """Return ``np.floor_divide``, of which CuPy takes the floor of the rounded quotient.

    The formula is `div_floor_floating` of PyTorch's c10/util/generic_math.h.
    """
    if x.dtype.kind != "f" or _on_host(x, y):
        return np.floor_divide(x, y)
    x, y = (module_of(x).asarray(each) for each in (x, y))  # one may be a number
    rest = np.fmod(x, y)
    quotient = (x - rest) / y - ((rest != 0) & ((y < 0) != (rest < 0)))
    whole = np.floor(quotient)
    whole = whole + (quotient - whole > 0.5)
    found = np.where(quotient == 0, np.copysign(whole * 0, x / y), whole)
    return np.where(y == 0, x / y, found).astype(x.dtype)


def remainder(x: Any, y: Any) -> Any:
    """Return ``np.remainder``, which CuPy takes from the rounded quotient.

    The formula is that of PyTorch's remainder kernel for CUDA.
    """
    if x.dtype.kind != "f" or _on_host(x, y):
        return np.remainder(x, y)
    x, y = (module_of(x).asarray(each) for each in (x, y))
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest).astype(x.dtype)
