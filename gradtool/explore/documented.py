"""Variants that the documentation of a Function allows: more leading axes, broadcast arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtool.cases.inference.documentation import documentation
from gradtool.explore.point import Point, Variant
from gradtool.explore.ranks import along_some_axes, with_axis
from gradtool.explore.traits import traits

_LEADING = re.compile(r"\b(\w+)`*:?\s*\(\s*(?:\.\.\.|\*)\s*,")
"""Matches ``x (..., n)`` and ``x: (*, n)``, a shape with any number of leading axes."""

_ANY_LEADING = re.compile(r"\b(any|arbitrary)\b[^.;]{0,24}\b(leading|batch)\b|\bleading dim", re.I)

_BROADCAST = re.compile(r"([^.;,()]*)\b(?:broadcastable|(?:may |can |are )?broadcast)\b", re.I)
"""Matches what a clause says before that word: which arguments may have such a shape."""

_ALL = re.compile(r"\b(arguments|inputs|tensors)\b", re.I)

_TINY = 2.0**-560

_ANY_SIZE = re.compile(
    r"\bany (real|finite)\b|\ball (reals|real numbers)\b|\bof any (size|magnitude)\b"
    r"|\b(overflow|underflow)|\bnumerically (stable|robust)",
    re.I,
)


def documented(function: Any, point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants of the shapes and sizes that the docstrings speak of."""
    text = documentation(function)
    if is_of_any_size(function):
        yield from _tiny(point)
    named = set(_LEADING.findall(text))
    is_free = {at for at, array in point.continuous() if not _is_bound(array) and array.ndim}
    leading = [at for at in sorted(is_free) if point.names[at] in named]
    if _ANY_LEADING.search(text) and is_free:
        leading = leading or [min(is_free)]
    for at in leading:
        yield from _with_leading_axis(point, at, leading, rng)
    clauses = " ".join(_BROADCAST.findall(text))
    for at in sorted(is_free & point.tracked):
        if _ALL.search(clauses) or re.search(rf"\b{re.escape(point.names[at])}\b", clauses):
            yield from along_some_axes(point, at, rng)


def is_of_any_size(function: Any) -> bool:
    """Return True if the documentation says that numbers may be as large as they like."""
    return bool(_ANY_SIZE.search(documentation(function)))


def _tiny(point: Point) -> Iterator[Variant]:
    """Variants so small that their squares are zero."""
    for at, array in point.continuous():
        if at in point.tracked and array.dtype == np.float64 and not _is_bound(array):
            change = f"values of `{point.names[at]}` are about 1e-169"
            yield Variant(point.having({at: array * _TINY}), change, only_finite=True)


def _is_bound(array: Any) -> bool:
    return any(trait.is_equality for trait in traits(array))


def _with_leading_axis(
    point: Point, at: int, leading: list[int], rng: np.random.Generator
) -> Iterator[Variant]:
    rank = point.values[at].ndim
    alike = tuple(each for each in leading if point.values[each].ndim == rank)
    for chosen in dict.fromkeys(((at,), alike)):
        made = {each: with_axis(point.values[each], 0, rng) for each in chosen}
        names = " and ".join(f"`{point.names[each]}`" for each in chosen)
        change = f"{names} {'has' if len(chosen) == 1 else 'have'} one more leading axis"
        yield Variant(point.having(made), change, may_raise=False)
