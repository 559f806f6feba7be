"""Python numbers as elements of a dtype, converted and refused as torch does."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._levels import Outline

_CPP_NAMES = {
    "int64": "int64_t", "int32": "int", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t",
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def number_for(dtype: _dtypes.dtype, value: Any) -> Any:
    """The number as this dtype has it: fractions cut off for integers, any for bool.

    Raises:
        RuntimeError: it has an imaginary part or a magnitude that the dtype does not have.
    """
    if dtype.category == _dtypes.BOOL:
        return bool(value)
    if dtype.is_complex:
        parts = (value.real, value.imag)
        return value if all(_fits(dtype, part) for part in parts) else _refuse(dtype)
    if isinstance(value, complex):
        value = _refuse(dtype) if value.imag else value.real
    if dtype.category == _dtypes.INTEGER and isinstance(value, float):
        below = value < 0 and not dtype.is_signed  # where only integers wrap around
        value = int(value) if math.isfinite(value) and not below else _refuse(dtype)
    return value if _fits(dtype, value) else _refuse(dtype)


def _fits(dtype: _dtypes.dtype, value: float) -> bool:
    largest = _largest(dtype)
    if dtype.category != _dtypes.INTEGER:
        return abs(value) <= largest or not math.isfinite(value)
    # Unsigned integers wrap around below zero, signed ones reach one further there.
    return bool(-largest - dtype.is_signed <= value <= largest)


@cache
def _largest(dtype: _dtypes.dtype) -> Any:
    limits = _dtypes.iinfo if dtype.category == _dtypes.INTEGER else _dtypes.finfo
    return limits(dtype).max


def cpp_name(dtype: _dtypes.dtype) -> str:
    """The name of a dtype where torch names the type in C++."""
    return _CPP_NAMES.get(dtype.name, dtype.name)


def _refuse(dtype: _dtypes.dtype) -> Any:
    raise RuntimeError(f"value cannot be converted to type {cpp_name(dtype)} without overflow")


def scalar_for(x: Any, value: Any) -> Any:
    """`number_for` the dtype of a tensor; a tensor, or a number of NumPy's, is left as it is."""
    return number_for(x.dtype, value) if isinstance(value, int | float | complex) else value


def element_for(x: Any, value: Any) -> Any:
    """A tensor of one element as one without dimensions of the dtype of `x`, refused as a number.

    Raises:
        RuntimeError: it has an imaginary part or a magnitude that the dtype does not have.
    """
    if value._array.dtype == x._array.dtype:
        return value.reshape(()) if value.ndim else value
    if not isinstance(value._array, Outline):
        number_for(x.dtype, value._array.item())
    return value.reshape(()).to(x.dtype)
