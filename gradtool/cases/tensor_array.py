"""The array that a configuration's description of a tensor stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gradtool.config.tensor_spec import TensorSpec, dtype_of

NEAREST_TO_ZERO = 0.1
"""Normal values keep this distance from 0, where many functions have a kink or a pole."""

_INTEGERS = (0, 2)
"""Bounds of random integers without ``low`` and ``high``: valid indices nearly everywhere."""


def make_array(spec: TensorSpec, rng: np.random.Generator, dtype: str) -> NDArray[Any]:
    """The array of `spec`; `dtype` is used where the spec names none.

    Raises:
        MemoryError: The shape is larger than memory.
        ValueError: The shape is larger than NumPy can address.
    """
    if spec.values is not None:
        array = np.array(spec.values)
        default = dtype if array.dtype.kind == "f" else dtype_of(array.dtype.kind)
        return cast(array, spec.dtype or default)
    kind = np.dtype(spec.dtype or dtype)
    return cast(_random(spec, rng, kind), kind)


def cast(array: Any, dtype: DTypeLike) -> NDArray[Any]:
    """The array in `dtype`; what is too large for one that the run asks for becomes infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(array, dtype=dtype)


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
