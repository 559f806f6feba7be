"""Comparison of tensors with expected ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.literals import as_tensor
from gradtool.engine._tensor import Tensor, to_numpy

_TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7), "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip
"""Relative and absolute tolerance of each dtype, from torch's docs; others are exact."""


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Require agreement to ``atol + rtol * |expected|``, also within sequences and mappings.

    The default tolerances are the larger ones of both dtypes.

    Raises:
        ValueError: one tolerance is given without the other.
        AssertionError: they do not agree in values, shape, dtype, device or structure.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("Both 'rtol' and 'atol' must be either specified or unspecified")
    for where, one, other in _pairs(actual, expected, ""):
        found = _difference(
            _compared(one),
            _compared(other),
            tolerances=None if rtol is None or atol is None else (rtol, atol),
            equal_nan=equal_nan,
            check_device=check_device,
            check_dtype=check_dtype,
        )
        if found:
            raise AssertionError(_worded(found + where, msg))


def _worded(message: str, msg: str | Callable[[str], str] | None) -> str:
    if callable(msg):
        return msg(message)
    return msg or message


def _pairs(actual: Any, expected: Any, where: str) -> list[tuple[str, Any, Any]]:
    """Yield (path, actual, expected) for every leaf."""
    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping) or actual.keys() != expected.keys():
            raise AssertionError(f"The keys of the mappings do not match{where}")
        keys: list[Any] = list(expected)
    elif isinstance(expected, Sequence) and not isinstance(expected, str):
        if not isinstance(actual, Sequence) or len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch{where}")
        keys = list(range(len(expected)))
    else:
        return [(where, actual, expected)]
    return [pair for key in keys for pair in _pairs(actual[key], expected[key], _at(where, key))]


def _at(where: str, key: Any) -> str:
    before = where.removeprefix("\n\nThe failure occurred for item ")
    return f"\n\nThe failure occurred for item {before}[{key!r}]"


def _compared(value: Any) -> Tensor:
    """Convert a value to a tensor; numbers keep Python's precision."""
    if isinstance(value, float | complex) and not isinstance(value, np.generic):
        return as_tensor(np.asarray(value))
    return as_tensor(value)


def _difference(
    actual: Tensor,
    expected: Tensor,
    *,
    tolerances: tuple[float, float] | None,
    equal_nan: bool,
    check_device: bool,
    check_dtype: bool,
) -> str:
    """Describe the difference; empty if there is none."""
    if actual.shape != expected.shape:
        return f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}."
    for name, checked in (("device", check_device), ("dtype", check_dtype)):
        one, other = getattr(actual, name), getattr(expected, name)
        if checked and one != other:
            return f"The values for attribute '{name}' do not match: {one} != {other}."
    relative, absolute = tolerances or _wider(actual.dtype, expected.dtype)
    pair = [to_numpy(each.detach()._array) for each in (actual, expected)]
    return _mismatch(pair[0], pair[1], relative, absolute, equal_nan)


def _wider(one: _dtypes.dtype, other: _dtypes.dtype) -> tuple[float, float]:
    both = [_TOLERANCES.get(each.name, (0.0, 0.0)) for each in (one, other)]
    return max(both[0][0], both[1][0]), max(both[0][1], both[1][1])


def _mismatch(actual: Any, expected: Any, rtol: float, atol: float, equal_nan: bool) -> str:
    close = np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if close.all():
        return ""
    exact = rtol == atol == 0
    absolute, relative = _differences(actual, expected, close)
    limits = ["", ""] if exact else [f" (up to {atol} allowed)", f" (up to {rtol} allowed)"]
    verdict = "equal" if exact else "close"
    if actual.ndim == 0:
        return (
            f"Scalars are not {verdict}!\n\nExpected {expected.item()} but got {actual.item()}.\n"
            f"Absolute difference: {absolute.item()}{limits[0]}\n"
            f"Relative difference: {relative.item()}{limits[1]}"
        )
    return (
        f"Tensor-likes are not {verdict}!\n\nMismatched elements: {(~close).sum()} / {close.size} "
        f"({100 * (~close).mean():.1f}%)\n"
        f"Greatest absolute difference: {_greatest(absolute)}{limits[0]}\n"
        f"Greatest relative difference: {_greatest(relative)}{limits[1]}"
    )


def _differences(actual: Any, expected: Any, close: Any) -> tuple[Any, Any]:
    """Return absolute and relative differences, in the precision of the values."""
    if actual.dtype.kind in "biu" and expected.dtype.kind in "biu":
        actual, expected = (each.astype(np.int64) for each in (actual, expected))
    with np.errstate(all="ignore"):
        absolute = np.where(close, actual.dtype.type(0), np.abs(actual - expected))
        magnitude = np.abs(expected)
        if magnitude.dtype.kind == "i":  # a ratio of integers has torch's default precision
            ratio = absolute.astype(np.float32) / magnitude.astype(np.float32)
        else:
            ratio = absolute / magnitude
    return absolute, np.where(close, ratio.dtype.type(0), ratio)


def _greatest(differences: Any) -> str:
    found = int(np.argmax(differences))  # the first NaN, if there is one
    place = np.unravel_index(found, differences.shape)
    return f"{differences[place].item()} at index {tuple(map(int, place))}"
