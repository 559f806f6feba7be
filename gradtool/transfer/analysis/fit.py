"""Time as latency plus size over bandwidth: a line through the medians of several sizes.

Least squares of relative distances, since times of small and of large copies differ by powers
of ten. With t the median, n the size: minimize the sum of ((a + n / b) / t - 1)^2. Half of the
bandwidth b is reached at n = a * b.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from msgspec.structs import replace

from gradtool.results.transfer import Cell, Fit

LEAST_SIZES = 3

_NO_LINE = 0.5
"""Relative distance of the worst median beyond which a line means nothing."""


@dataclass(frozen=True)
class Line:
    """A fitted line."""

    latency: float
    """Seconds."""
    rate: float
    """Bytes per second."""
    worst: float
    """The largest relative distance."""

    @property
    def half_size(self) -> float:
        """Bytes at which half the rate is reached."""
        return self.latency * self.rate


def fit_line(sizes: Sequence[float], times: Sequence[float]) -> Line:
    """The line through these points.

    Raises:
        ValueError: there are fewer than two, or they do not grow with size.
    """
    if len(set(sizes)) < 2:
        raise ValueError("a line needs two sizes")
    n, t = np.asarray(sizes, float), np.asarray(times, float)
    equations = np.stack([1 / t, n / t], axis=1)
    latency, slope = np.linalg.lstsq(equations, np.ones_like(t), rcond=None)[0]
    if latency < 0:  # No latency is negative: the line goes through the origin.
        latency, slope = 0.0, float(np.sum(n / t) / np.sum((n / t) ** 2))
    if slope <= 0:
        raise ValueError("larger copies took no longer")
    worst = float(np.max(np.abs((latency + n * slope) / t - 1)))
    return Line(float(latency), 1 / float(slope), worst)


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
    times = [cell.done.median for cell in cells if cell.done]
    try:
        line = fit_line([cell.moved for cell in cells], times)
    except ValueError as error:
        return replace(blank, unavailable=str(error))
    if line.worst > _NO_LINE:
        return replace(blank, unavailable=f"no line: a size lies {line.worst:.0%} off it")
    return replace(
        blank, latency=line.latency, gbps=line.rate / 1e9, half_size=line.half_size,
        worst=line.worst,
    )  # fmt: skip
