"""Constants that are the same up to the order of their entries, such as a kernel and its mirror.

A backward takes the one in place of the other, so they have to change together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, combinations

import numpy as np

from gradtool.explore.point import Point
from gradtool.verify.protocol.observation import Array

_MOST_AXES = 5
"""Axes of a tensor beyond which no mirror is looked for."""

Reordering = Callable[[Array], Array]


def mirrored(case: Point) -> Iterator[Callable[[Point], bool]]:
    """Yield a constraint for each two constants of a case of which one is a mirror of the other."""
    constant = [
        at
        for at, array in case.continuous()
        if at not in case.tracked and array.ndim <= _MOST_AXES and len(np.unique(array)) > 1
    ]
    for one, other in combinations(constant, 2):
        for reordering in _reorderings(case.values[one].ndim):
            if _are_same(one, other, reordering, case):
                yield partial(_are_same, one, other, reordering)
                break


def _reorderings(rank: int) -> Iterator[Reordering]:
    """Yield the identity, flips along any axes, and the transpose of the last two."""
    axes = range(rank)
    for chosen in chain.from_iterable(combinations(axes, count) for count in range(rank + 1)):
        yield partial(np.flip, axis=chosen)
    if rank > 1:
        yield partial(np.swapaxes, axis1=-1, axis2=-2)


def _are_same(one: int, other: int, reordering: Reordering, point: Point) -> bool:
    first, second = point.values[one], point.values[other]
    if not isinstance(first, np.ndarray) or not isinstance(second, np.ndarray):
        return True
    return bool(np.array_equal(reordering(first), second))
