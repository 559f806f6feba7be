"""A plot of each difference quotient's distance from the numeric value, on log scales.

A derivative that exists shows as a straight fall until rounding takes over. What backward says
is a level line: where it runs far above the lowest point, no choice of the step explains it.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradtool.report.html.elements import Child, element
from gradtool.results.evidence import Scalar
from gradtool.results.report import Evidence, LadderCurve

_WIDTH, _HEIGHT = 380.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 10.0, 10.0, 34.0
_MOST_TICKS = 6
_LOWEST = 1e-18
"""Smaller distances, zero included, are drawn at the bottom."""

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class _Axis:
    """Decades from `low` to `high` over pixels from `start` to `end`."""

    low: int
    high: int
    start: float
    end: float

    def at(self, value: float) -> float:
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + min(max(part, 0.0), 1.0) * (self.end - self.start)

    def ticks(self) -> range:
        return range(self.low, self.high + 1, -(-(self.high - self.low) // _MOST_TICKS))


def error_plot(evidence: Evidence) -> ET.Element | None:
    """A figure of the curve of `evidence`; None where there is no numeric value to come near."""
    curve, numeric = evidence.ladder, evidence.numeric
    if curve is None or not isinstance(numeric, float):
        return None
    away = _points(curve, [_distance(q, numeric) for q in curve.quotients])
    noise = _points(curve, curve.noise)
    if len(away) < 2:
        return None
    levels = {"analytic": evidence.difference, "tolerance": evidence.tolerance}
    known = {name: _height(value) for name, value in levels.items() if _is_shown(value)}
    heights = [y for _, y in away] + list(known.values())
    across = _axis([x for x, _ in away], _LEFT, _WIDTH - _RIGHT)
    up = _axis(heights, _HEIGHT - _BOTTOM, _TOP)
    return element(
        "figure",
        element("figcaption", element("b", "error of the quotient"), " by step size"),
        element(
            "svg",
            element(
                "title", "distance between difference quotients and the numeric value, by step size"
            ),
            *_grid(across, up),
            _line("noise", noise, across, up),
            *(_level(name, y, across, up) for name, y in known.items()),
            _line("away", away, across, up),
            *_dots(away, across, up),
            viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
            role="img",
        ),
        _legend(list(known)),
        class_="plot",
    )


def _distance(quotient: Scalar, numeric: float) -> Scalar:
    return abs(quotient - numeric) if isinstance(quotient, float) else quotient


def _points(curve: LadderCurve, values: Sequence[Scalar]) -> Points:
    pairs = zip(curve.steps, values, strict=True)
    return [(step, _height(value)) for step, value in pairs if isinstance(value, float)]


def _is_shown(value: Scalar | None) -> bool:
    return isinstance(value, float)


def _height(value: Scalar | None) -> float:
    return max(float(value or 0.0), _LOWEST)


def _axis(values: list[float], start: float, end: float) -> _Axis:
    logs = [math.log10(value) for value in values]
    low = math.floor(min(logs))
    return _Axis(low, max(math.ceil(max(logs)), low + 1), start, end)


def _grid(across: _Axis, up: _Axis) -> Iterator[Child]:
    for decade in across.ticks():
        x = f"{across.at(10.0**decade):.1f}"
        yield element("line", x1=x, x2=x, y1=f"{up.start:g}", y2=f"{up.end:g}", class_="grid")
        yield element("text", f"1e{decade}", x=x, y=f"{up.start + 14:g}", text_anchor="middle")
    for decade in up.ticks():
        y = up.at(10.0**decade)
        yield element(
            "line",
            x1=f"{across.start:g}",
            x2=f"{across.end:g}",
            y1=f"{y:.1f}",
            y2=f"{y:.1f}",
            class_="grid",
        )
        yield element(
            "text", f"1e{decade}", x=f"{across.start - 5:g}", y=f"{y + 3.5:.1f}", text_anchor="end"
        )
    middle = (across.start + across.end) / 2
    yield element("text", "step", x=f"{middle:g}", y=f"{_HEIGHT - 4:g}", text_anchor="middle")


def _line(name: str, points: Points, across: _Axis, up: _Axis) -> ET.Element:
    at = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in points)
    return element("polyline", points=at, class_=f"line {name}")


def _dots(points: Points, across: _Axis, up: _Axis) -> Iterator[Child]:
    for x, y in points:
        yield element("circle", cx=f"{across.at(x):.1f}", cy=f"{up.at(y):.1f}", r="2.5")


def _level(name: str, height: float, across: _Axis, up: _Axis) -> ET.Element:
    y = f"{up.at(height):.1f}"
    return element(
        "line", x1=f"{across.start:g}", x2=f"{across.end:g}", y1=y, y2=y, class_=f"line {name}"
    )


_MEANINGS = {
    "away": "quotient vs. numeric value",
    "noise": "rounding error of the quotient",
    "analytic": "analytic vs. numeric value",
    "tolerance": "tolerance",
}


def _legend(levels: list[str]) -> ET.Element:
    names = ["away", "noise", *levels]
    return element(
        "ul",
        *(element("li", element("i", class_=f"swatch {name}"), _MEANINGS[name]) for name in names),
        class_="legend",
    )
