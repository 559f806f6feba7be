"""Bandwidth by size as an SVG picture: a panel for each direction, a line for each way of copying.

Both scales are logarithmic. Lines are solid for copies that do not block and dashed for blocking
ones; the band is from the lower to the upper quartile. Hollow points have numbers that cannot be
trusted. A diamond marks the size at which the fit reaches half of its bandwidth, with the 95%
interval of that half as a bar.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradtool.measure.units import size_text
from gradtool.report.html.elements import element
from gradtool.results.transfer import Cell, Fit, TransferReport

TITLES = {"h2d": "host to device", "d2h": "device to host"}

_WIDTH, _HEIGHT = 1000.0, 430.0
_TOP, _BOTTOM, _LEFT, _GAP, _LEGEND = 64.0, 66.0, 52.0, 46.0, 150.0
_PANEL = (_WIDTH - _LEFT - _GAP - _LEGEND - 20) / 2

_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c510a", "#7b3294",
    "#4d9221", "#b2182b",
)  # fmt: skip
"""Okabe and Ito's colours, which colour-blind people tell apart, and some more."""


@dataclass(frozen=True)
class _Look:
    """Colour and shape of a scenario's points; squares come once every colour has been used."""

    colour: str
    square: bool


_NOTES = (
    "dashed: blocking",
    "hollow: do not use",
    "diamond: the fit reaches",
    "half its rate; bar: 95%",
    "dots: link",
)

_STYLE = """
svg { font: 12px system-ui, sans-serif; background: #fff; }
text { fill: #333; } .title { font-size: 14px; font-weight: 600; } .note { font-size: 11px; }
.grid { stroke: #ddd; } .link { stroke: #777; stroke-dasharray: 2 4; }
.way { fill: none; stroke-width: 2; } .blocking { stroke-dasharray: 6 4; stroke-width: 1.3; }
.band { stroke: none; opacity: .12; } .hollow { fill: #fff; } .dot { stroke-width: 1.5; }
.interval { stroke-width: 1; } .simulated { fill: #a15c00; font-weight: 600; }
@media (prefers-color-scheme: dark) {
  svg { background: #16181b; } text { fill: #ddd; } .grid { stroke: #33373d; }
  .hollow { fill: #16181b; } .simulated { fill: #f0b429; }
}
"""


@dataclass(frozen=True)
class _Scale:
    """A logarithmic scale from values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + part * (self.end - self.start)


@dataclass(frozen=True)
class _Way:
    """A scenario in one direction and mode: its cells by size."""

    scenario: str
    mode: str
    cells: Sequence[Cell]


def picture(report: TransferReport) -> ET.Element:
    """The whole picture as an ``svg`` element."""
    ways = {direction: _ways(report, direction) for direction in TITLES}
    looks = _looks(ways["h2d"] + ways["d2h"])
    up = _rates(report, ways["h2d"] + ways["d2h"])
    children = [*_heading(report), *_legend(looks)]
    for place, direction in enumerate(TITLES):
        left = _LEFT + place * (_PANEL + _GAP)
        children += _panel(report, direction, ways[direction], looks, (left, up))
    return element(
        "svg", element("title", f"{report.header.device}: bandwidth by size"),
        element("style", _STYLE), *children, viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}", role="img",
        xmlns="http://www.w3.org/2000/svg",
    )  # fmt: skip


def render(report: TransferReport) -> bytes:
    """The picture as a file."""
    text = ET.tostring(picture(report), encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _ways(report: TransferReport, direction: str) -> list[_Way]:
    found: dict[tuple[str, str], list[Cell]] = {}
    for cell in report.cells:
        if cell.direction == direction and cell.tensors == 1 and not cell.row and cell.gbps:
            found.setdefault((cell.scenario, cell.mode), []).append(cell)
    return [_Way(*way, sorted(cells, key=lambda cell: cell.total)) for way, cells in found.items()]


def _looks(ways: Sequence[_Way]) -> dict[str, _Look]:
    """A look for each scenario, the fastest at its largest size first."""
    ends: dict[str, float] = {}
    for way in ways:
        ends[way.scenario] = max(ends.get(way.scenario, 0.0), way.cells[-1].gbps or 0.0)
    fastest = sorted(ends, key=lambda scenario: -ends[scenario])
    return {
        name: _Look(_COLOURS[place % len(_COLOURS)], square=place >= len(_COLOURS))
        for place, name in enumerate(fastest)
    }


def _rates(report: TransferReport, ways: Sequence[_Way]) -> _Scale:
    """The scale of GB/s that both panels share, from one decade to another."""
    rates = [cell.gbps or 1.0 for way in ways for cell in way.cells] or [1.0]
    rates += [report.link.gbps] if report.link.gbps else []
    low = 10.0 ** math.floor(math.log10(min(rates)))
    high = 10.0 ** math.ceil(math.log10(max(rates) * 1.001))
    return _Scale(low, high, _HEIGHT - _BOTTOM, _TOP)


def _heading(report: TransferReport) -> Iterator[ET.Element]:
    if report.simulated:
        text = "SIMULATED: host memory in place of a device"
        yield element("text", text, x=f"{_LEFT:g}", y="18", class_="simulated")
    y = 36 if report.simulated else 20
    text = f"{report.header.device}: median GB/s by size, for copies of a single buffer"
    yield element("text", text, x=f"{_LEFT:g}", y=f"{y}", class_="title")


def _panel(
    report: TransferReport,
    direction: str,
    ways: Sequence[_Way],
    looks: dict[str, _Look],
    place: tuple[float, _Scale],
) -> Iterator[ET.Element]:
    left, up = place
    sizes = sorted({cell.total for way in ways for cell in way.cells})
    if not sizes:
        middle = f"{left + _PANEL / 2:g}"
        text = f"{TITLES[direction]}: nothing measured"
        yield element("text", text, x=middle, y=f"{_HEIGHT / 2:g}", text_anchor="middle")
        return
    high = sizes[-1] if sizes[-1] > sizes[0] else 2 * sizes[0]
    across = _Scale(sizes[0], high, left + 8, left + _PANEL - 8)
    yield from _grid(direction, sizes, across, up)
    if report.link.gbps:
        yield _level(report.link.gbps, across, up)
    for way in ways:
        yield from _drawn(way, looks[way.scenario], across, up)
    for fit in report.fits:
        if fit.direction == direction and fit.half_size and fit.scenario in looks:
            yield from _half(fit, looks[fit.scenario].colour, across, up)


def _grid(direction: str, sizes: Sequence[int], across: _Scale, up: _Scale) -> Iterator[ET.Element]:
    left, right = across.start - 8, across.end + 8
    rate = up.low
    while rate <= up.high * 1.001:
        y = up.at(rate)
        yield _segment((left, y), (right, y), "grid")
        yield element("text", f"{rate:g}", x=f"{left - 6:g}", y=f"{y + 4:.1f}", text_anchor="end")
        rate *= 10
    for size in sizes:
        x = across.at(size)
        yield _segment((x, up.start), (x, up.end), "grid")
        yield element(
            "text", size_text(size), x=f"{x:.1f}", y=f"{up.start + 16:g}", text_anchor="end",
            transform=f"rotate(-30 {x:.1f} {up.start + 16:g})",
        )  # fmt: skip
    yield element("text", TITLES[direction], x=f"{left:g}", y=f"{up.end - 8:g}", class_="title")


def _segment(start: tuple[float, float], end: tuple[float, float], kind: str) -> ET.Element:
    return element(
        "line", x1=f"{start[0]:.1f}", y1=f"{start[1]:.1f}", x2=f"{end[0]:.1f}", y2=f"{end[1]:.1f}",
        class_=kind,
    )  # fmt: skip


def _level(gbps: float, across: _Scale, up: _Scale) -> ET.Element:
    y = up.at(gbps)
    return _segment((across.start, y), (across.end, y), "link")


def _drawn(way: _Way, look: _Look, across: _Scale, up: _Scale) -> Iterator[ET.Element]:
    points = [(across.at(cell.total), up.at(cell.gbps)) for cell in way.cells if cell.gbps]
    band = _band(way, across, up)
    if band:
        yield element("polygon", points=_text(band), class_="band", fill=look.colour)
    kind = "way" if way.mode == "non_blocking" else "way blocking"
    yield element("polyline", points=_text(points), class_=kind, stroke=look.colour)
    for cell, (x, y) in zip(way.cells, points, strict=True):
        dot = _dot(look, x, y)
        dot.append(_tip(cell))
        dot.set("class", "dot hollow" if cell.doubt else "dot")
        if not cell.doubt:
            dot.set("fill", look.colour)
        yield dot


def _dot(look: _Look, x: float, y: float) -> ET.Element:
    if look.square:
        return element(
            "rect", x=f"{x - 3:.1f}", y=f"{y - 3:.1f}", width="6", height="6", stroke=look.colour
        )
    return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="3.2", stroke=look.colour)


def _tip(cell: Cell) -> ET.Element:
    """The text that shows while the pointer is over a point."""
    doubt = f" ({cell.doubt})" if cell.doubt else ""
    return element("title", f"{cell.id}: {cell.gbps:.3g} GB/s{doubt}")


def _band(way: _Way, across: _Scale, up: _Scale) -> list[tuple[float, float]]:
    """The outline of the quartiles: forwards along the slower ones, back along the faster.

    Cells that cannot be trusted have none; their quartiles would cover the panel.
    """
    found = [
        (across.at(cell.total), cell.moved / 1e9, cell.done) for cell in way.cells if not cell.doubt
    ]

    def height(rate: float) -> float:
        return up.at(min(max(rate, up.low), up.high))

    slow = [(x, height(moved / done.p75)) for x, moved, done in found if done]
    fast = [(x, height(moved / done.p25)) for x, moved, done in found if done]
    return slow + fast[::-1]


def _half(fit: Fit, colour: str, across: _Scale, up: _Scale) -> Iterator[ET.Element]:
    assert fit.half_size is not None
    rate = (fit.gbps or 0.0) / 2
    if across.low <= fit.half_size <= across.high and up.low <= rate <= up.high:
        x, y = across.at(fit.half_size), up.at(rate)
        corners = [(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)]
        tip = element("title", f"{fit.scenario} {fit.mode}: half of {fit.gbps:.3g} GB/s")
        yield element("polygon", tip, points=_text(corners), fill="none", stroke=colour)
        if fit.gbps_interval is not None:
            low, high = (up.at(min(max(end / 2, up.low), up.high)) for end in fit.gbps_interval)
            bar = _segment((x, low), (x, high), "interval")
            bar.set("stroke", colour)
            yield bar


def _text(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _legend(looks: dict[str, _Look]) -> Iterator[ET.Element]:
    x, y = _WIDTH - _LEGEND, _TOP
    for name, look in looks.items():
        yield element(
            "line", x1=f"{x:g}", x2=f"{x + 18:g}", y1=f"{y - 4:g}", y2=f"{y - 4:g}",
            class_="way", stroke=look.colour,
        )  # fmt: skip
        dot = _dot(look, x + 9, y - 4)
        dot.set("fill", look.colour)
        yield dot
        yield element("text", name, x=f"{x + 24:g}", y=f"{y:g}")
        y += 17
    for note in _NOTES:
        yield element("text", note, x=f"{x:g}", y=f"{y + 6:g}", class_="note")
        y += 14
