"""Check that a variant has the shapes that docstrings state: one that contradicts them is none.

Extents with one name are equal, numbers are what they are, and an expression such as ``(K - 1) *
dilation`` is computed from the other extents and the plain arguments. Only what the case itself
agrees with counts.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

from gradtool.cases.inference.documentation import (
    ANY_AXES,
    Shapes,
    alternatives,
    expression,
    scalars_or,
)
from gradtool.explore.point import Point
from gradtool.explore.reading.expressions import value

_ONE_FOR_EACH = re.compile(
    r"\b(\w+)`*:?[^().:;]{0,48}\b(?:0-?d\w*|scalar)\b[^().:;]{0,16}\bor (?:a|one)(?: \w+)? "
    r"(?:per|for each|for every) (\w+)"
)
"""Matches ``scale is a scalar or one value per row``."""

_ROWS = re.compile(r"rows?|samples?|examples?|items?|points?|groups?|nodes?|sequences?|batch")

_ALIKE = re.compile(r"\b(one|(the|a) (same|common|single)|equal|identical|same) shapes?\b", re.I)
"""Matches ``x, w and mask have one shape``."""

_SENTENCES = re.compile(r"[.;]|\n\s*\n|\n(?=\s*`*\w+`* ?[:(])")
"""Matches what is between two sentences, and two items of a list."""

_MOST_WAYS = 16
"""Combinations of the shapes that a text leaves to choose from."""


def stated_shapes(text: str, case: Point) -> list[Shapes]:
    """The shapes that a text states of the arguments, in each of the ways to choose from.

    First the ways that the case agrees with; none if there are none of these.
    """
    names = {case.names[at] for at in case.tensors}
    found = alternatives(text, names)
    ways = islice(product(*found.values()), _MOST_WAYS)
    every = [_bound(dict(zip(found, way, strict=True)), case) for way in ways] if found else []
    every.sort(key=lambda shapes: not agrees(shapes, case))
    return every if every and agrees(every[0], case) else []


def _bound(shapes: Shapes, case: Point) -> Shapes:
    """The shapes, with a size that they only compute with as an end of the shape of another tensor.

    As ``n`` is in ``w of shape (n // 2 + 1,)``, if the case agrees with that.
    """
    axes = {axis for shape in shapes.values() for axis in shape}
    trees = filter(None, map(expression, axes))
    used = {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for name in sorted(used - axes - set(case.names)):
        others = [at for at, array in case.continuous() if array.ndim]
        ends = ((ANY_AXES[0], name), (name, ANY_AXES[0]))
        made = ({**shapes, case.names[at]: end} for end in ends for at in others)
        free = (each for each in made if len(each) > len(shapes) and agrees(each, case))
        shapes = next(free, shapes)
    return shapes


def agrees(shapes: Shapes, point: Point) -> bool:
    """Return True if the tensors of a point have stated shapes."""
    known: dict[str, int] = {
        name: given
        for name, given in zip(point.names, point.values, strict=True)
        if type(given) is int
    }
    pairs = list(_pairs(shapes, point))
    if any(length is None for length, _ in pairs):
        return False
    extents = [pair for pair in pairs if pair[1] is not None]
    for length, axis in extents:
        if axis is not None and axis.isidentifier() and known.setdefault(axis, length) != length:
            return False
    values = ((length, _computed(axis, known)) for length, axis in extents if axis is not None)
    return all(found is None or found == length for length, found in values)


def symbols(shapes: Shapes, point: Point) -> dict[str, int]:
    """The extents that stated shapes name, by their names."""
    return {
        axis: length
        for length, axis in _pairs(shapes, point)
        if axis is not None and axis.isidentifier() and length is not None
    }


def shapes_of(text: str, name: str, case: Point) -> list[tuple[int, ...]]:
    """The shapes that a text states of an argument, in extents of the case; none if unknown."""
    alike = _shape_in_common(text, name, case)
    if alike is not None:
        return [alike]
    ways = stated_shapes(text, case)
    if not ways:
        return []
    known = symbols(ways[0], case)
    stated = alternatives(text, {name}).get(name, ())
    shapes = ([_computed(axis, known) for axis in axes] for axes in stated)
    return [tuple(filter(None, shape)) for shape in shapes if all(shape)]


def _shape_in_common(text: str, name: str, case: Point) -> tuple[int, ...] | None:
    """The shape of a tensor that a text says has the same shape as an argument, if there is one."""
    for sentence in _SENTENCES.split(text):
        words = re.findall(r"\w+", sentence)
        if name in words and _ALIKE.search(sentence):
            for at, array in case.arrays():
                if case.names[at] in words and case.names[at] != name:
                    return tuple(array.shape)
    return None


def with_numbers(
    shapes: Shapes, case: Point, numbers: Mapping[str, int]
) -> dict[int, tuple[int, ...]]:
    """The shapes that tensors have with other numbers among the arguments, by position.

    Only those that differ from the ones of the case; none if one of them is unknown or empty.
    """
    known = {**symbols(shapes, case), **numbers}
    found: dict[int, tuple[int, ...]] = {}
    for at, array in case.arrays():
        axes = shapes.get(case.names[at])
        if axes is None or len(axes) != array.ndim:
            continue
        shape = [_computed(axis, known) for axis in axes]
        if not all(shape):
            return {}
        if tuple(shape) != array.shape:
            found[at] = tuple(filter(None, shape))
    return found


def shapes_beside_scalar(text: str, case: Point) -> dict[str, tuple[int, ...]]:
    """The shapes that a text allows for arguments that may also be one number."""
    ways = stated_shapes(text, case)
    known = symbols(ways[0], case) if ways else {}
    extents = Counter(extent for _, array in case.continuous() for extent in array.shape)
    found = _one_for_each(text, case)
    for name, axes in scalars_or(text, case.names).items():
        if len(axes) == 1 and axes[0].isidentifier() and extents:
            # What no other argument is said to have is likely to be what most of them have.
            known.setdefault(axes[0], extents.most_common(1)[0][0])
        shape = [_computed(axis, known) for axis in axes]
        if None not in shape:
            found[name] = tuple(each for each in shape if each is not None)
    return found


def _one_for_each(text: str, case: Point) -> dict[str, tuple[int, ...]]:
    """The shapes of what may be one number for each row, or column, of the largest tensor."""
    shapes = [array.shape for _, array in case.continuous() if array.ndim]
    largest = max(shapes, key=math.prod, default=())
    if not largest:
        return {}
    return {
        match[1]: (largest[0 if _ROWS.fullmatch(match[2]) else -1],)
        for match in _ONE_FOR_EACH.finditer(text)
        if match[1] in case.names
    }


def _pairs(shapes: Shapes, point: Point) -> Iterator[tuple[Any, str | None]]:
    """Each extent with what is stated of it; None for the extent where the rank is another."""
    for at, array in point.arrays():
        axes = shapes.get(point.names[at])
        if axes is None:
            continue
        start, own = placed(axes, array.ndim)
        if not 0 <= start <= array.ndim - len(own) or (array.ndim > len(own) == len(axes)):
            yield None, None
            continue
        yield from zip(array.shape[start : start + len(own)], own, strict=True)


def placed(axes: Sequence[str], rank: int) -> tuple[int, Sequence[str]]:
    """The stated axes without those of any number, and the first axis of a tensor that they name.

    ``(..., n, m)`` names the last ones, and ``(n, c, ...)`` the first ones.
    """
    if axes and axes[0] in ANY_AXES:
        return rank - len(axes) + 1, axes[1:]
    return 0, axes[:-1] if axes and axes[-1] in ANY_AXES else axes


def _computed(axis: str, known: Mapping[str, int]) -> int | None:
    """The value of an extent; None if a name in it is not known."""
    tree = expression(axis)
    try:
        found = None if tree is None else value(tree, known)
    except (KeyError, TypeError, ZeroDivisionError):
        return None
    return found if isinstance(found, int) else None
