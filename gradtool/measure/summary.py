"""Summaries of samples of a time, and the ratio of two such times.

Times have a floor and a long tail, so means and standard deviations would describe the tail.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

NOISY = 0.10
"""Relative interquartile range above which a median is noisy."""

UNUSABLE = 0.25
"""Relative interquartile range above which a median is unusable."""

VISIBLE = 0.10
"""Relative difference that a comparison must be able to show to say that there is none."""

FEWEST = 5
"""Number of samples below which quartiles are meaningless."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Summary of samples of one time, in seconds."""

    median: float
    p25: float
    p75: float
    n: int
    """Number of samples."""

    @property
    def relative_iqr(self) -> float:
        """Interquartile range as a fraction of the median."""
        return (self.p75 - self.p25) / self.median if self.median > 0 else 0.0

    @property
    def trust(self) -> str:
        """``do not use`` (relative range above 25%, or few samples), ``noisy`` (10%) or empty."""
        if self.relative_iqr > UNUSABLE or self.n < FEWEST:
            return "do not use"
        return "noisy" if self.relative_iqr > NOISY else ""


def quantile(ordered: Sequence[float], fraction: float) -> float:
    """Return a quantile of ordered samples, by linear interpolation."""
    place = fraction * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def summarize(samples: Sequence[float]) -> Summary:
    """Compute median, quartiles and number of samples.

    Raises:
        ValueError: there are none.
    """
    if not samples:
        raise ValueError("no samples to summarize")
    ordered = sorted(samples)
    p25, median, p75 = (quantile(ordered, fraction) for fraction in (0.25, 0.5, 0.75))
    return Summary(median=median, p25=p25, p75=p75, n=len(ordered))


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """Ratio of two times, with its 95% interval."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """``faster``, ``slower``, ``no difference`` or ``cannot tell``.

        The interval of the last two contains 1. That of ``no difference`` is so narrow that a
        difference of 10% would have been seen.
        """
        if self.high < 1:
            return "faster"
        if self.low > 1:
            return "slower"
        return "no difference" if self.resolution <= VISIBLE else "cannot tell"

    @property
    def resolution(self) -> float:
        """The smallest relative difference that the samples would have shown."""
        return max(self.high - 1, 1 - self.low)
