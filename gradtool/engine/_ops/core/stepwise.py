"""Elementwise computations in several steps, each written over the one before."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings


def stepwise(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of one array to compute in silence, on an array of one dimension at least.

    NumPy makes scalars of 0-d results, which cannot be written to. What has two bytes is computed
    in single precision, and rounded once.
    """

    @functools.wraps(compute)
    def computed(x: Any, **params: Any) -> Any:
        if x.ndim and x.itemsize > 2:
            return compute(x, **params)
        single = np.float32 if x.itemsize == 2 else x.dtype
        return compute(x.reshape(-1).astype(single), **params).astype(x.dtype).reshape(x.shape)

    return ignore_fp_warnings(computed)


__all__ = ["stepwise"]
