"""Comparison of two samples: an interval for the ratio of their medians, by resampling.

The percentile bootstrap (Efron 1979) assumes no distribution of the times. The generator has a
fixed seed, so that the same samples always give the same interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.measure.summary import Ratio

CONFIDENCE = 0.95
RESAMPLES = 2000
_MOST = 400
"""Number of samples used; more would hardly narrow the interval."""


def ratio(these: Sequence[float], those: Sequence[float]) -> Ratio:
    """Return the median of `these` over the median of `those`, all above zero.

    Raises:
        ValueError: one of them is empty.
    """
    if not len(these) or not len(those):
        raise ValueError("no samples to compare")
    rng = np.random.default_rng(0)
    ratios = _medians(rng, these) / _medians(rng, those)
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(ratios, [tail, 100 - tail])
    value = float(np.median(these) / np.median(those))
    return Ratio(value=value, low=min(float(low), value), high=max(float(high), value))


def _medians(rng: np.random.Generator, samples: Sequence[float]) -> np.ndarray[Any, Any]:
    values = np.asarray(samples[:_MOST], dtype=float)
    picks = rng.integers(0, len(values), size=(RESAMPLES, len(values)))
    found: np.ndarray[Any, Any] = np.median(values[picks], axis=1)
    return found
