"""A tensor as configuration describes it, and the array it stands for.

``{shape: [20, 20]}`` is float64 and standard normal; ``low`` and ``high`` make it uniform;
``values`` says every entry.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

DType = Literal[
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
]

NEAREST_TO_ZERO = 0.1
"""Normal values keep this distance from 0, where many functions have a kink or a pole."""

_INTEGERS = (0, 2)
"""Bounds of random integers without ``low`` and ``high``: valid indices nearly everywhere."""


class TensorSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a mapping with ``shape`` or ``values`` may say."""

    shape: tuple[Annotated[int, msgspec.Meta(ge=0)], ...] | None = None
    values: Any = None
    dtype: DType | None = None
    low: float | None = None
    high: float | None = None
    requires_grad: bool | None = None
    """None: as soon as the dtype can have a gradient."""


def is_tensor(value: object) -> bool:
    """Whether a configuration's value describes a tensor."""
    return isinstance(value, dict) and ("shape" in value or "values" in value)


def problem_with(spec: TensorSpec) -> str | None:
    """What makes `spec` impossible; None when nothing does."""
    if spec.shape is not None and spec.values is not None:
        return "has both 'shape' and 'values': leave one out"
    if spec.values is not None:
        return _problem_with_values(spec)
    if spec.shape is None:
        return "needs 'shape' or 'values'"
    return _problem_with_gradient(spec, spec.dtype or "float64") or _problem_with_bounds(spec)


def _problem_with_values(spec: TensorSpec) -> str | None:
    if spec.low is not None or spec.high is not None:
        return "has 'values', so 'low' and 'high' mean nothing: leave them out"
    try:
        array = np.array(spec.values)
    except (ValueError, OverflowError):
        return "'values' must be a list of rows of equal length"
    if array.dtype.kind not in "bif":
        return "'values' must hold numbers only"
    dtype = spec.dtype or _dtype_of(array)
    if np.dtype(dtype).kind in "biu" and not np.array_equal(array.astype(dtype), array):
        return f"'values' do not fit {dtype}"
    return _problem_with_gradient(spec, dtype)


def _problem_with_gradient(spec: TensorSpec, dtype: str) -> str | None:
    if spec.requires_grad and np.dtype(dtype).kind not in "fc":
        return f"'requires_grad' needs a floating dtype, not {dtype}"
    return None


def _problem_with_bounds(spec: TensorSpec) -> str | None:
    low, high, dtype = spec.low, spec.high, np.dtype(spec.dtype or "float64")
    if low is None and high is None:
        return None
    if low is None or high is None:
        return "needs both 'low' and 'high', or neither"
    if low > high:
        return f"'low' ({low:g}) is above 'high' ({high:g})"
    if dtype.kind == "b":
        return "is bool, which takes no 'low' and 'high'"
    if dtype.kind in "iu":
        return _problem_with_integers(low, high, np.iinfo(dtype))
    return None


def _problem_with_integers(low: float, high: float, limits: np.iinfo[Any]) -> str | None:
    if low != math.floor(low) or high != math.floor(high):
        return f"is {limits.dtype}, so 'low' and 'high' must be whole numbers"
    if low < limits.min or high > limits.max:
        return f"'low' and 'high' must lie within {limits.dtype}"
    return None


def make_array(spec: TensorSpec, rng: np.random.Generator, dtype: str) -> NDArray[Any]:
    """The array of `spec`; `dtype` is used where the spec names none.

    Raises:
        MemoryError: The shape is larger than memory.
        ValueError: The shape is larger than NumPy can address.
    """
    if spec.values is not None:
        array = np.array(spec.values)
        default = dtype if array.dtype.kind == "f" else _dtype_of(array)
        return array.astype(spec.dtype or default)
    kind = np.dtype(spec.dtype or dtype)
    return np.asarray(_random(spec, rng, kind), dtype=kind)


def _dtype_of(values: NDArray[Any]) -> str:
    """As ``torch.tensor`` reads Python numbers, but with float64 for floats."""
    return {"b": "bool", "i": "int64"}.get(values.dtype.kind, "float64")


def _random(spec: TensorSpec, rng: np.random.Generator, dtype: np.dtype[Any]) -> Any:
    shape = spec.shape or ()
    if dtype.kind == "b":
        return rng.integers(0, 2, shape)
    if dtype.kind in "iu":
        low, high = _bounds(spec, _INTEGERS)
        return rng.integers(int(low), int(high), shape, endpoint=low == high)
    if spec.low is None or spec.high is None:
        return _normal(rng, shape) + (1j * _normal(rng, shape) if dtype.kind == "c" else 0)
    return rng.uniform(spec.low, spec.high, shape)


def _bounds(spec: TensorSpec, default: tuple[float, float]) -> tuple[float, float]:
    return default if spec.low is None or spec.high is None else (spec.low, spec.high)


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    drawn = np.asarray(rng.standard_normal(shape))
    return np.asarray(drawn + np.copysign(NEAREST_TO_ZERO, drawn))
