"""Whether two arrays that should be the same are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.verify.oracle.steps import epsilon
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array, Observation
from gradtool.verify.thresholds.rules import REPEATED_RESULT_ROUNDINGS


def same(one: Array | None, other: Array | None) -> bool:
    """Whether two results agree up to rounding; None agrees with None only."""
    if one is None or other is None:
        return one is other
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not is_continuous(one.dtype):
        return np.array_equal(one, other)
    size = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    slack = REPEATED_RESULT_ROUNDINGS * epsilon(one.dtype) * size
    return bool(np.allclose(one, other, rtol=0.0, atol=slack, equal_nan=True))


def all_same(one: Sequence[Array | None], other: Sequence[Array | None]) -> bool:
    """Whether all results of two calls agree."""
    return len(one) == len(other) and all(map(same, one, other))


def silently_differs(seen: Observation, changed: Observation) -> bool:
    """Whether the gradients of a call that was interfered with differ, and nothing was raised."""
    if changed.failure is not None or changed.gradients is None or seen.gradients is None:
        return False
    return not all_same(seen.gradients, changed.gradients)
