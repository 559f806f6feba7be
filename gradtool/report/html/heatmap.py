"""A part of a Jacobian as a picture: one square for each entry, the darker the larger.

All squares of a colour are one SVG path, so a picture is a few kilobytes at most.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Sequence

from gradtool.report.html.elements import Child, element
from gradtool.report.jacobian import reference, short
from gradtool.results.evidence import Row, Scalar
from gradtool.results.report import JacobianBlock

_SHADES = 6
_SIDE = 176
"""Pixels of the longer side."""
_LARGEST_SQUARE = 28


def heatmaps(block: JacobianBlock, argument: str) -> list[ET.Element]:
    """Figures of the analytic and the reference values, on one scale, and of their difference."""
    shared = max(_largest(block.analytic), _largest(block.numeric))
    return [
        _figure(block, block.analytic, "analytic", shared, argument),
        _figure(block, block.numeric, reference(block), shared, argument),
        _figure(block, block.difference, "difference", _largest(block.difference), argument),
    ]


def key(block: JacobianBlock) -> ET.Element:
    """The meanings of colours and marks."""
    is_finite = not any(
        isinstance(value, str)
        for rows in (block.analytic, block.numeric)
        for row in rows
        for value in row
    )
    return element(
        "ul",
        _meaning("negative, zero, positive; stronger means larger", *_SCALE),
        None if is_finite else _meaning("not a finite number", "u"),
        _marked("wrong entry", element("path", class_="wrong", d=_dot(0, 0))),
        _marked("worst entry", _box(0, 0)),
        class_="legend",
    )


_SCALE = ("n6", "n3", "z", "p3", "p6")


def _meaning(text: str, *shades: str) -> ET.Element:
    squares = [element("path", class_=name, d=_square(x, 0)) for x, name in enumerate(shades)]
    return element("li", _swatch(len(shades), *squares), text)


def _marked(text: str, mark: ET.Element) -> ET.Element:
    return element("li", _swatch(1, element("path", class_="z", d=_square(0, 0)), mark), text)


def _swatch(width: int, *children: ET.Element) -> ET.Element:
    view = f"-0.1 -0.1 {width + 0.2:g} 1.2"
    return element("svg", *children, viewBox=view, width=f"{14 * width}", height="14")


def _largest(rows: Sequence[Row]) -> float:
    return max((abs(v) for row in rows for v in row if isinstance(v, float)), default=0.0)


def _figure(
    block: JacobianBlock, rows: Sequence[Row], name: str, scale: float, argument: str
) -> ET.Element:
    return element(
        "figure",
        element("figcaption", element("b", name), f" up to ±{short(scale, 3)}"),
        _picture(block, rows, scale, f"{name} values of the Jacobian with respect to {argument}"),
        class_="heatmap",
    )


def _picture(
    block: JacobianBlock, rows: Sequence[Row], scale: float, description: str
) -> ET.Element:
    height, width = len(block.row_labels), len(block.column_labels)
    square = min(_SIDE / max(height, width), _LARGEST_SQUARE)
    worst = block.worst
    return element(
        "svg",
        element("title", description),
        *_squares(rows, scale),
        _outlines(block),
        _box(worst[1], worst[0]),
        viewBox=f"-0.1 -0.1 {width + 0.2:g} {height + 0.2:g}",
        width=f"{square * width + 6:.0f}",
        height=f"{square * height + 6:.0f}",
        role="img",
    )


def _squares(rows: Sequence[Row], scale: float) -> list[Child]:
    """A path for each colour, the empty background of zeros included."""
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            paths[_shade(value, scale)].append(_square(x, y))
    return [element("path", class_=name, d="".join(parts)) for name, parts in sorted(paths.items())]


def _shade(value: Scalar, scale: float) -> str:
    """``p`` or ``n`` for the sign, and how dark; ``u`` for what is not a finite number."""
    if isinstance(value, str):
        return "u"
    if not value or not scale:
        return "z"
    # The root keeps small entries visible next to large ones.
    level = max(round((abs(value) / scale) ** 0.5 * _SHADES), 1)
    return f"{'p' if value > 0 else 'n'}{level}"


def _outlines(block: JacobianBlock) -> ET.Element | None:
    """A dot in the middle of every wrong entry."""
    dots = [_dot(x, y) for y, row in enumerate(block.wrong) for x, wrong in enumerate(row) if wrong]
    return element("path", class_="wrong", d="".join(dots)) if dots else None


def _square(x: int, y: int) -> str:
    return f"M{x} {y}h1v1h-1z"


def _dot(x: int, y: int) -> str:
    return f"M{x + 0.38} {y + 0.5}a.12 .12 0 1 0 .24 0a.12 .12 0 1 0 -.24 0z"


def _box(x: int, y: int) -> ET.Element:
    return element("rect", x=f"{x}", y=f"{y}", width="1", height="1", class_="worst")
