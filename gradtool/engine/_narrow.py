"""Floating dtypes that NumPy has only with the package ml_dtypes: bfloat16, and those of a byte."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np


class Limits(NamedTuple):
    """Limits of a dtype, as ``torch.finfo`` has them."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    resolution: float


def _limits(bits: int, eps: float, largest: float, smallest: float, resolution: float) -> Limits:
    return Limits(bits, eps, largest, -largest, smallest, resolution)


LIMITS: Final[dict[str, Limits]] = {
    "bfloat16": _limits(16, 2.0**-7, 2.0**127 * (2 - 2.0**-7), 2.0**-126, 0.01),
    "float8_e4m3fn": _limits(8, 0.125, 448.0, 2.0**-6, 1.0),
    "float8_e5m2": _limits(8, 0.25, 57344.0, 2.0**-14, 1.0),
    "float8_e4m3fnuz": _limits(8, 0.125, 240.0, 2.0**-7, 1.0),
    "float8_e5m2fnuz": _limits(8, 0.125, 57344.0, 2.0**-15, 1.0),
    "float8_e8m0fnu": Limits(8, 1.0, 2.0**127, 2.0**-127, 2.0**-127, 1.0),
}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """NumPy's dtype of this name, of the package that is imported only here.

    Raises:
        ImportError: the package is not installed.
    """
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            f"tensors of torch.{name} need ml_dtypes: pip install ml_dtypes"
        ) from None
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return found
