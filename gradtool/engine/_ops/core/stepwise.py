"""Elementwise computations in several steps, each written over the one before."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings


def stepwise(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of one array to compute in silence, on an array of one dimension at least.

    NumPy makes scalars of 0-d results, which cannot be written to.
    """

    @functools.wraps(compute)
    def computed(x: Any, **params: Any) -> Any:
        return compute(x, **params) if x.ndim else compute(x.reshape(1), **params).reshape(())

    return ignore_fp_warnings(computed)


__all__ = ["stepwise"]
