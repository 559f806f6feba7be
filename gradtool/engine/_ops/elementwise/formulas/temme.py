"""Coefficients of Temme's expansion of the incomplete gamma functions (DLMF 8.12)."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Final

_ROWS: Final = 14
_COLUMNS: Final = 24


def _distance(count: int) -> list[Fraction]:
    """The coefficients of ``m / y`` as a series in `y`, where ``y * y / 2`` is ``m - log(1 + m)``.

    They follow from the differential equation ``m m' = y (1 + m)``.
    """
    found = [Fraction(0), Fraction(1)]
    for n in range(2, count + 1):
        known = sum((found[i] * (n + 1 - i) * found[n + 1 - i] for i in range(2, n)), Fraction(0))
        found.append((found[n - 1] - known) / (n + 1))
    return found[1:]


def _reciprocal(series: list[Fraction]) -> list[Fraction]:
    """The coefficients of one over a series that starts with one."""
    found = [Fraction(1)]
    for n in range(1, len(series)):
        found.append(-sum((series[k] * found[n - k] for k in range(1, n + 1)), Fraction(0)))
    return found


@functools.cache
def temme_coefficients() -> list[list[float]]:
    """For each power of ``1 / a``, the coefficients of a series in `y` (8.12.9 to 8.12.12)."""
    first = _reciprocal(_distance(_COLUMNS + 2 * _ROWS + 2))[1:]
    rows = [first]
    for _ in range(1, _ROWS):
        last = rows[-1]
        rows.append([(n + 2) * last[n + 2] - last[1] * first[n] for n in range(len(last) - 2)])
    return [[float(each) for each in row[:_COLUMNS]] for row in rows]
