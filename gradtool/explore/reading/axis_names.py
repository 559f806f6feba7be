"""Names that the source and the docstrings give to axes: those of one name are equally long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.cases.inference.documentation import source
from gradtool.cases.inference.shapes.reading import read_shapes
from gradtool.explore.point import Axis, Point
from gradtool.explore.reading.documented_shapes import placed, stated_shapes
from gradtool.explore.reading.source import trees
from gradtool.explore.reading.wording import wording

_LIST = re.compile(r"((?:\w+`*\s*(?:,|/|\band\b)\s*`*)+\w+)`*:?\s*\(")
"""Matches names that share what is in parentheses: ``scores, labels (B, L)``."""


def axis_names(function: Any, point: Point) -> dict[Axis, str]:
    """Map axes to the names, or the expressions, by which docstrings or forward call their extents.

    ``b, t, k = x.shape`` names three axes, and ``assert w.shape == (k, k)`` two more.
    """
    found = _unpacked(function, point)
    ways = stated_shapes(wording(function).docstrings, point)
    for name, axes in ways[0].items() if ways else ():
        at = point.names.index(name)
        rank = point.values[at].ndim
        start, own = placed(axes, rank)
        others = [axis - start for axis in range(rank) if not 0 <= axis - start < len(own)]
        found |= {(at, start + axis): f"... {axis}" for axis in others}
        found |= {(at, start + axis): each for axis, each in enumerate(own)}
    for one, other in _listed(wording(function).docstrings, point):
        alike = range(point.values[one].ndim)
        found |= {(one, axis): found[other, axis] for axis in alike if (other, axis) in found}
    return found


def _listed(text: str, point: Point) -> Iterator[tuple[int, int]]:
    """Yield tensors of one shape of which a text lists one before the other, as in ``k/v (S, D)``.

    The last of a list is the one whose shape follows.
    """
    tensors = {point.names[at]: at for at in point.tensors}
    for match in _LIST.finditer(text):
        *listed, last = (tensors.get(name) for name in re.findall(r"\w+", match[1]))
        shapes = {at: point.values[at].shape for at in (*listed, last) if at is not None}
        if last is not None:
            yield from (
                (at, last) for at in listed if at is not None and shapes[at] == shapes[last]
            )


def _unpacked(function: Any, point: Point) -> dict[Axis, str]:
    """The names that forward itself gives to axes."""
    tensors = {point.names[at]: at for at in point.tensors}
    found: dict[Axis, str] = {}
    for tree in trees(forward_of(function)):
        facts = read_shapes(tree, tuple(tensors), source(function))
        for name, extents in facts.shapes.items():
            at = tensors[name]
            if name not in facts.weak and point.values[at].ndim == len(extents):
                named = enumerate(map(facts.resolved, extents))
                found |= {(at, axis): each for axis, each in named if isinstance(each, str)}
    return found
