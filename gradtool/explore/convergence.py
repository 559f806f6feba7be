"""Convergence of a forward that iterates: more rounds change nothing.

Only there is its derivative that of what it converges to, which backward may return.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.collect.checkable import Checkable
from gradtool.explore.excuses import outputs_at
from gradtool.explore.point import Point
from gradtool.explore.reading.source import Iteration, iterations, with_helpers
from gradtool.verify.protocol.observation import Array

_SAME = 1e-12
"""Difference of outputs, next to the largest entry, that is one of roundings."""

_More = Callable[[int], int]


def can_be_told(checkable: Checkable, point: Point) -> bool:
    """Return True for a forward whose number of rounds can be changed."""
    iteration = iterations(checkable.obj)
    return bool(iteration and (_counts(iteration, point) or _counters(checkable, iteration)))


def has_converged(checkable: Checkable, point: Point) -> bool:
    """Return True if one more round, or twice as many, leave the outputs as they are."""
    iteration = iterations(checkable.obj)
    if iteration is None:
        return False
    counts, counters = _counts(iteration, point), _counters(checkable, iteration)
    try:
        before = outputs_at(checkable, point)
        # One more, too: values may come back in turns.
        for more in (_one_more, _twice):
            longer = point.having({at: more(n) for at, n in counts.items()})
            with _with_more(counters, more):
                if not all(map(_is_same, before, outputs_at(checkable, longer))):
                    return False
    except Exception:  # The user's forward may raise anything.
        return False
    return True


def _one_more(n: int) -> int:
    return n + 1


def _twice(n: int) -> int:
    return 2 * n


def _counts(iteration: Iteration, point: Point) -> dict[int, int]:
    """The arguments that are numbers of rounds, by position."""
    return {
        at: point.values[at]
        for at in point.plain
        if point.names[at] in iteration.counts and type(point.values[at]) is int
    }


def _is_same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None or one.shape != other.shape:
        return one is other
    size = float(np.abs(one).max(initial=0.0))
    return bool(np.abs(one - other).max(initial=0.0) <= _SAME * size)


# ---- numbers of rounds in the source ----------------------------------------------------------


def _counters(checkable: Checkable, iteration: Iteration) -> list[tuple[Any, int]]:
    """The functions whose code has such a number as a constant, and the number."""
    method = forward_of(checkable.obj)
    functions = [inspect.unwrap(each) for each in with_helpers(method)]
    return [
        (each, n)
        for each in functions
        for n in iteration.constants
        if n in getattr(getattr(each, "__code__", None), "co_consts", ())
    ]


@contextmanager
def _with_more(counters: Sequence[tuple[Any, int]], more: _More) -> Iterator[None]:
    """Change numbers of rounds in the code of functions, and restore it."""
    before = [(function, function.__code__) for function, _ in counters]
    try:
        for function, count in counters:
            code = function.__code__
            constants = tuple(
                more(each) if type(each) is int and each == count else each
                for each in code.co_consts
            )
            function.__code__ = code.replace(co_consts=constants)
        yield
    finally:
        for function, code in before:
            function.__code__ = code
