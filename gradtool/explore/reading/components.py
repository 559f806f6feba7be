"""Axes whose entries have a meaning each, as the coordinates of a point: their extent is fixed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradtool.cases.inference.documentation import ANY_AXES
from gradtool.explore.point import Point
from gradtool.explore.reading.names import is_place
from gradtool.explore.reading.source import forward_nodes, nodes
from gradtool.explore.reading.wording import wording

_MAKING = {"zeros", "new_zeros", "empty", "new_empty", "ones", "new_ones"}

_OF_SPACE = (
    (2, re.compile(r"\b(2-?d|two-dimensional|planar|unit square|so\(2\)|se\(2\))\b", re.I)),
    (3, re.compile(r"\b(3-?d|three-dimensional|xyz)\b|so\(?3|se\(?3|rotation|quaternion", re.I)),
    (4, re.compile(r"quaternion|homogeneous|se\(?3", re.I)),
)
"""Words for what has a number of coordinates."""

_SHAPE = re.compile(r"(\w*)`*\s*[(\[]((?:[\w.]+\s*,\s*)*[\w.]+)[)\]]")
"""Matches ``gradients (E, 2, 2)``, with the word before it."""

_SQUARE = re.compile(r"(?<![\w.])(\d+)(?: ?[x\u00d7] ?| by |-by-)(\d+)(?!\w|\.\d)")
"""Matches ``2x2 matrices`` and ``3 by 3``."""


def component_axes(function: Any, point: Point) -> set[tuple[int, int]]:
    """The axes that a constant index names to the end, or that have as many entries as space.

    Or the last axis of points, if the source makes a tensor of so many coordinates, of half a
    spectrum whose length is an argument, and those whose extent a docstring states.
    """
    fixed = set(_stated_numbers(wording(function).docstrings, point))
    text = f"{getattr(function, '__name__', '')} {wording(function).docstrings}"
    coordinates = {extent for extent, words in _OF_SPACE if words.search(text)}
    named, made = set(_named(function)), set(_made_extents(function))
    halves = _half_spectra(function, point)
    for at, array in point.arrays():
        if array.dtype.kind == "c" and array.ndim and array.shape[-1] in halves:
            fixed.add((at, array.ndim - 1))
        for axis, extent in enumerate(array.shape):
            places = {(point.names[at], axis, extent - 1)}
            places |= {(point.names[at], axis - array.ndim, extent - 1)}
            if (extent > 1 and places & named) or extent in coordinates:
                fixed.add((at, axis))
        if array.ndim > 1 and is_place(point.names[at]) and array.shape[-1] in made:
            fixed.add((at, array.ndim - 1))
    return fixed


def _stated_numbers(text: str, point: Point) -> Iterator[tuple[int, int]]:
    """The axes with a number in ``gradients (E, 2, 2)`` or ``2x2 matrices``, of no argument."""
    stated = (each for name, each in _SHAPE.findall(text) if name not in point.names)
    found = [each.replace(" ", "").split(",") for each in stated]
    for axes in (*found, *(["...", *each] for each in _SQUARE.findall(text))):
        numbers = {at - len(axes): int(axis) for at, axis in enumerate(axes) if axis.isdecimal()}
        if min(numbers.values(), default=0) > 1:
            for at, array in point.arrays():
                if _has_extents(array.shape, axes, numbers):
                    yield from ((at, array.ndim + axis) for axis in numbers)


def _has_extents(shape: Sequence[int], axes: Sequence[str], numbers: Mapping[int, int]) -> bool:
    is_rank = len(shape) >= len(axes) - 1 if axes[0] in ANY_AXES else len(shape) == len(axes) > 1
    return is_rank and all(shape[axis] == extent for axis, extent in numbers.items())


def _half_spectra(function: Any, point: Point) -> set[int]:
    """The numbers of frequencies that belong to a length among the arguments.

    ``irfft(x, n)`` cuts off or makes up what is not as long, by accident.
    """
    if "irfft" not in {n.attr for n in nodes(function) if isinstance(n, ast.Attribute)}:
        return set()
    lengths = [point.values[at] for at in point.plain if type(point.values[at]) is int]
    return {length // 2 + 1 for length in lengths if length > 2}


def _made_extents(function: Any) -> Iterator[int]:
    """Each number of entries that the source gives to the last axis of a new tensor."""
    for node in nodes(function):
        match node:
            case ast.Call(
                func=ast.Attribute(attr=attr), args=[*_, ast.Constant(value=int(extent))]
            ):
                if attr in _MAKING and len(node.args) > 1:
                    yield extent


def _named(function: Any) -> Iterator[tuple[str, int, int]]:
    """Each name that forward subscripts, the axis and a constant index along it.

    After an ellipsis, axes are counted from the end.
    """
    for node in forward_nodes(function):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            index = node.slice
            entries = index.elts if isinstance(index, ast.Tuple) else [index]
            yield from ((node.value.id, axis, n) for axis, n in _constants(entries))


def _constants(entries: list[ast.expr]) -> Iterator[tuple[int, int]]:
    axis = 0
    for number, entry in enumerate(entries):
        match entry:
            case ast.Constant(value=value) if value is Ellipsis:
                axis = number + 1 - len(entries)
                continue
            case ast.Constant(value=None):
                continue
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                yield axis, value
        axis += 1
