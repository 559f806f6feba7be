"""When there are samples enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradtool.measure.summary import summarize


@dataclass(frozen=True)
class StopRule:
    """At least so many samples, and a spread so small; a time budget is the caller's to keep."""

    least: int = 15
    most: int = 1000
    spread: float = 0.05
    """Relative interquartile range that is small enough."""

    def satisfied(self, samples: Sequence[float]) -> bool:
        """Whether these samples are enough."""
        if len(samples) < self.least:
            return False
        return len(samples) >= self.most or summarize(samples).relative_iqr < self.spread
