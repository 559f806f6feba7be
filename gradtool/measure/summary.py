"""Summaries of samples of a time, and the ratio of two such times.

Times have a floor and a long tail, so means and standard deviations would describe the tail.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

NOISY = 0.10
"""Relative interquartile range above which a median is to be read with care."""

UNUSABLE = 0.25
"""The same, above which it is not to be used."""

FEWEST = 5
"""Samples below which quartiles say nothing."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of one time, in seconds."""

    median: float
    p25: float
    p75: float
    n: int
    """How many samples there were."""

    @property
    def relative_iqr(self) -> float:
        """The range from p25 to p75 as a fraction of the median."""
        return (self.p75 - self.p25) / self.median if self.median > 0 else 0.0

    @property
    def trust(self) -> str:
        """Empty, ``noisy`` (relative range above 10 %) or ``do not use`` (25 %; few samples)."""
        if self.relative_iqr > UNUSABLE or self.n < FEWEST:
            return "do not use"
        return "noisy" if self.relative_iqr > NOISY else ""


def quantile(ordered: Sequence[float], fraction: float) -> float:
    """The value below which a fraction of ordered samples lies, by linear interpolation."""
    place = fraction * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def summarize(samples: Sequence[float]) -> Summary:
    """Median, quartiles and number of samples.

    Raises:
        ValueError: there are none.
    """
    if not samples:
        raise ValueError("no samples to summarize")
    ordered = sorted(samples)
    p25, median, p75 = (quantile(ordered, fraction) for fraction in (0.25, 0.5, 0.75))
    return Summary(median=median, p25=p25, p75=p75, n=len(ordered))


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """How many times as long one thing takes as another, with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """``faster``, ``slower``, or ``no difference`` where the interval contains 1."""
        if self.high < 1:
            return "faster"
        return "slower" if self.low > 1 else "no difference"
