"""Variants of numbers that fill the interval in which a docstring says that they lie."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from gradtool.cases.inference.documentation import expression
from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.documented_shapes import stated_shapes, symbols
from gradtool.explore.reading.expressions import value
from gradtool.explore.traits import restored, traits

_END = r"([-\w.]+(?: ?[-+*] ?[\w.]+)?)"
_INTERVAL = (
    rf"\b{{name}}\b`*(?: \([^()]*\))?:?[^.;,()\[\]]{{{{0,24}}}}\bin `*[\[(]{_END}, ?{_END}[\])]"
)
"""Matches ``x (N,) in [0, n)``."""

_REACHED = 0.1
"""Part of an interval by whose distance from an end it is reached."""


def filled(text: str, point: Point) -> Iterator[Variant]:
    """Yield variants with numbers near both ends of an interval, one of which is not reached.

    What comes after the last cell of a periodic grid, for one, is the first.
    """
    ways = stated_shapes(text, point)
    known = symbols(ways[0], point) if ways else {}
    numbers = {point.names[at]: point.values[at] for at in point.plain}
    for at, array in point.continuous():
        if at not in point.tracked or array.dtype != np.float64 or array.size < 2:
            continue
        if any(trait.is_equality for trait in traits(array)):
            continue
        for match in re.finditer(_INTERVAL.format(name=re.escape(point.names[at])), text):
            ends = [_end(each, {**known, **numbers}) for each in match.groups()]
            if None in ends:
                continue
            low, high = (float(each) for each in ends if each is not None)
            near = _REACHED * (high - low)
            if low < high and (array.min() > low + near or array.max() < high - near):
                order = np.argsort(np.argsort(array.reshape(-1)))
                spread = np.linspace(low + near / 4, high - near / 4, array.size)[order]
                made = restored(array, spread.reshape(array.shape))
                change = f"values of `{point.names[at]}` reach both ends of their interval"
                yield Variant(point.having({at: made}), change)


def _end(code: str, known: dict[str, object]) -> float | None:
    tree = expression(code)
    try:
        found = None if tree is None else value(tree, known)
    except (KeyError, TypeError, ZeroDivisionError):
        return None
    return float(found) if isinstance(found, int | float) and np.isfinite(found) else None
