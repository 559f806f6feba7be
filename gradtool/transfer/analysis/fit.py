"""Time as latency plus size over bandwidth: a line through the medians of several sizes.

Least squares of relative distances, since times of small and of large copies differ by powers
of ten. With t the median, n the size: minimize the sum of ((a + n / b) / t - 1)^2. Half of the
bandwidth b is reached at n = a * b.

The intervals follow from the errors of the medians, each its own sampling error and the scatter of
all around the line: the sandwich estimator of least squares with unequal variances.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from msgspec.structs import replace

from gradtool.results.transfer import Cell, Fit

LEAST_SIZES = 3

_NO_LINE = 0.5
"""Relative distance of the worst median beyond which a line means nothing."""

_TWO_SIDED_95 = 1.96
_MEDIAN_ERROR = 0.93
"""Standard error of a normal sample's median, times the root of n, by the interquartile range."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A fitted line."""

    latency: float
    """Seconds."""
    rate: float
    """Bytes per second."""
    worst: float
    """The largest relative distance."""
    latency_interval: Interval = (0.0, math.inf)
    """95% interval, in seconds."""
    rate_interval: Interval = (0.0, math.inf)
    """95% interval, in bytes per second."""

    @property
    def half_size(self) -> float:
        """Bytes at which half the rate is reached."""
        return self.latency * self.rate


def fit_line(
    sizes: Sequence[float], times: Sequence[float], errors: Sequence[float] | None = None
) -> Line:
    """The line through these points.

    Args:
        sizes: Bytes.
        times: Seconds.
        errors: The relative standard error of each time; zero by default.

    Raises:
        ValueError: there are fewer than two, or they do not grow with size.
    """
    if len(set(sizes)) < 2:
        raise ValueError("a line needs two sizes")
    n, t = np.asarray(sizes, float), np.asarray(times, float)
    equations = np.stack([1 / t, n / t], axis=1)
    latency, slope = map(float, np.linalg.lstsq(equations, np.ones_like(t), rcond=None)[0])
    if latency < 0:  # No latency is negative: the line goes through the origin.
        latency, slope = 0.0, float(np.sum(n / t) / np.sum((n / t) ** 2))
    if slope <= 0:
        raise ValueError("larger copies took no longer")
    distances = (latency + n * slope) / t - 1
    around_latency, around_slope = _half_widths(equations, distances, errors)
    low, high = slope - around_slope, slope + around_slope
    return Line(
        latency, 1 / slope, float(np.max(np.abs(distances))),
        latency_interval=(max(0.0, latency - around_latency), latency + around_latency),
        rate_interval=(1 / high, 1 / low if low > 0 else math.inf),
    )  # fmt: skip


def _half_widths(
    equations: np.ndarray[Any, Any],
    distances: np.ndarray[Any, Any],
    errors: Sequence[float] | None,
) -> Interval:
    """Half of the intervals of latency and slope."""
    spare = len(distances) - 2
    scatter = float(distances @ distances) / spare if spare else 0.0
    variances = scatter + np.square(np.zeros_like(distances) if errors is None else errors)
    inverse = np.linalg.pinv(equations)
    latency, slope = _TWO_SIDED_95 * np.sqrt(np.diag((inverse * variances) @ inverse.T))
    return float(latency), float(slope)


def fits(cells: Iterable[Cell]) -> list[Fit]:
    """A fit for each way of copying one buffer of which there are enough sizes."""
    single = [cell for cell in cells if cell.tensors == 1 and not cell.row and not cell.doubt]
    found = []
    for _, group in groupby(sorted(single, key=_way), key=_way):
        members = list(group)
        if len({cell.bytes for cell in members}) >= LEAST_SIZES:
            found.append(_fit(members))
    order = {cell.id.partition("[")[0]: place for place, cell in enumerate(single)}
    return sorted(found, key=lambda fit: order[f"{fit.scenario}.{fit.direction}.{fit.mode}"])


def _way(cell: Cell) -> tuple[str, str, str]:
    return cell.scenario, cell.direction, cell.mode


def _fit(cells: Sequence[Cell]) -> Fit:
    first = cells[0]
    blank = Fit(
        simulated=first.simulated, scenario=first.scenario, label=first.label,
        direction=first.direction, mode=first.mode, sizes=len(cells),
    )  # fmt: skip
    times = [cell.done for cell in cells if cell.done]
    errors = [_MEDIAN_ERROR * each.relative_iqr / math.sqrt(each.n) for each in times]
    try:
        line = fit_line([cell.moved for cell in cells], [each.median for each in times], errors)
    except ValueError as error:
        return replace(blank, unavailable=str(error))
    if line.worst > _NO_LINE:
        return replace(blank, unavailable=f"no fit: one size lies {line.worst:.0%} off the line")
    low, high = (rate / 1e9 for rate in line.rate_interval)
    return replace(
        blank, latency=line.latency, gbps=line.rate / 1e9, half_size=line.half_size,
        worst=line.worst, latency_interval=line.latency_interval,
        gbps_interval=(low, high) if math.isfinite(high) else None,
    )  # fmt: skip
