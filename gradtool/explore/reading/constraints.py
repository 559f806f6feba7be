"""Constraints that a variant has to keep: what docstrings state, and what indices keep apart.

Only what the case itself agrees with counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice, permutations
from typing import Any

import numpy as np

from gradtool.cases.inference.bounds import Bound, are_bounds, clamp_bounds
from gradtool.cases.inference.documentation import Shapes, least_extents, scalars
from gradtool.explore.point import Point
from gradtool.explore.reading.documented_shapes import agrees, stated_shapes, symbols
from gradtool.explore.reading.inequalities import Inequality, inequalities
from gradtool.explore.reading.mirrored import mirrored
from gradtool.explore.reading.names import is_mark_of_none
from gradtool.explore.reading.regular_matrices import kept_regular
from gradtool.explore.reading.stated_values import Statement, bounded, levels, statements
from gradtool.explore.reading.wording.entries import (
    speaks_of_apart,
    speaks_of_distinct,
    speaks_of_one,
    speaks_of_varied,
)
from gradtool.explore.reading.wording.roles import ignored_labels
from gradtool.explore.traits import is_permutation_along

Constraint = Callable[[Point], bool]

_MULTIPLE = re.compile(
    r"(?P<before>(?:\S+\s+){0,4})(?:divisible by|multiples? of)\s+(?:the\s+)?[`(]*(?P<value>\w+)",
    re.I,
)
_LONGER = re.compile(r"(?<![\w.])(?P<extent>[A-Z]) *(?P<sign>>=?|\u2265) *(?P<than>[a-z]\w*)")
"""Matches ``N > ddof``, in which a capital letter stands for an extent."""

_LENGTH = re.compile(
    r"\b(?P<name>\w+)`* (?:of|with|has)(?: a)? (?:length|size) "
    r"(?P<sign><=?|\u2264|at most|up to|no more than) *(?P<most>\d+)"
)
"""Matches ``c of length <= 6``."""

_NEEDLESS = re.compile(r"\b(?:not?|need|any|whether|if|when|where|unless)\b|n't\b", re.I)

_MOST_ENDS = 3
"""Entries of one edge or face, which are different vertices."""


def constraints(
    text: str, methods: Sequence[ast.AST], case: Point, cases: Sequence[Point] = ()
) -> list[Constraint]:
    """The constraints of a case with these docstrings, and with these definitions of methods.

    What a docstring states of an argument counts if all `cases` agree with all of it: "delay (n >
    0) or advance (n < 0)" restricts nothing.
    """
    ways = stated_shapes(text, case)
    shapes = ways[0] if ways else {}
    found: list[Constraint] = []
    if ways:
        least = least_extents(text)
        found.append(lambda point: any(agrees(shapes, point) for shapes in ways))
        found.append(lambda point: _is_long_enough(symbols(shapes, point), least))
    found += _stated(text, shapes, [case, *cases])
    found += [partial(_within, name, case) for name in bounded(text, set(case.names))]
    found += _numbers(text, [case, *cases])
    found += _unequal(text, shapes, [case, *cases])
    found += _longer(text, shapes, case)
    found += _multiples(text, case)
    found += _short(text, case)
    found += _kept_apart(case)
    found += _distinct(case) if speaks_of_distinct(text) else ()
    found += _entries_apart(case) if speaks_of_apart(text) else ()
    found += [partial(_is_varied, speaks_of_one(text))] if speaks_of_varied(text) else ()
    found += _in_order(case, methods)
    found += kept_regular(case, methods)
    found += _sorting(case)
    found += mirrored(case)
    return [each for each in found if each(case)]


def _is_long_enough(extents: Mapping[str, int], least: Mapping[str, int]) -> bool:
    return all(extents.get(name, bound) >= bound for name, bound in least.items())


def _numbers(text: str, cases: Sequence[Point]) -> list[Constraint]:
    """The constraints that what a text calls one number is one, if that holds at all cases."""
    names = {name for each in cases for name in each.names}
    found = [partial(_is_number, name) for name in scalars(text, names)]
    return [each for each in found if all(map(each, cases))]


def _is_number(name: str, point: Point) -> bool:
    return np.ndim(_named(point).get(name, 0)) == 0


def _unequal(text: str, shapes: Shapes, cases: Sequence[Point]) -> list[Constraint]:
    """The inequalities between expressions of arguments and extents that hold at all cases."""
    names = {name for each in cases for name in (*each.names, *symbols(shapes, each))}
    found = [partial(_satisfies, each, shapes) for each in inequalities(text, names)]
    return [each for each in found if all(map(each, cases))]


def _satisfies(inequality: Inequality, shapes: Shapes, point: Point) -> bool:
    return inequality({**symbols(shapes, point), **_named(point)})


def _stated(text: str, shapes: Shapes, cases: Sequence[Point]) -> list[Constraint]:
    """The constraints on the values of those arguments of which no statement fails at a case."""
    names = {name for each in cases for name in each.names}
    found = [*statements(text, names), *levels(text, names)]
    marks = sorted(ignored_labels(text))
    stated = [(each.name, _as_constraint(each, shapes, marks)) for each in found]
    broken = {name for name, holds in stated if not all(map(holds, cases))}
    return [holds for name, holds in stated if name not in broken]


def _as_constraint(statement: Statement, shapes: Shapes, marks: Sequence[int]) -> Constraint:
    """The constraint of a statement about one argument, or about all tensors with a gradient.

    It does not hold of labels that are `marks`, or arguments called so.
    """

    def holds(point: Point) -> bool:
        values = _named(point)
        known = {**symbols(shapes, point), **values}
        if statement.name is not None:
            given = [values[statement.name]] if statement.name in values else []
        else:
            given = [point.values[at] for at in sorted(point.tracked)]
        own = (each for name, each in values.items() if is_mark_of_none(name))
        every = [*marks, *(each for each in own if type(each) is int)]
        return all(_is_like(_without(every, each), statement, known) for each in given)

    return holds


def _without(marks: Sequence[int], given: Any) -> Any:
    is_label = isinstance(given, np.ndarray) and given.dtype.kind == "i"
    return given[~np.isin(given, marks)] if is_label and marks else given


def _in_order(case: Point, methods: Sequence[ast.AST]) -> Iterator[Constraint]:
    """A lower bound stays below the upper one."""
    for lower, upper in {pair for each in methods for pair in clamp_bounds(each, case.names)}:
        yield partial(_is_below, lower, upper)
    for lower, upper in permutations(case.names, 2):
        if are_bounds(lower, upper):
            yield partial(_is_below, lower, upper)


def _is_below(lower: Bound, upper: Bound, point: Point) -> bool:
    values = _named(point)
    try:
        low, high = (values[end] if isinstance(end, str) else end for end in (lower, upper))
        return bool(np.all(np.asarray(low) <= np.asarray(high)))
    except (KeyError, TypeError, ValueError):  # One of them may be left out, or not a number.
        return True


def _within(name: str | None, case: Point, point: Point) -> bool:
    """Return True if numbers stay between the least and the largest of the case.

    Of indices the range is another one where plain numbers are, as the sizes of a grid.
    """
    names = [case.names[at] for at in sorted(case.tracked)] if name is None else [name]
    before, after = _named(case), _named(point)
    return all(
        before[each].min() <= after[each].min() and after[each].max() <= before[each].max()
        for each in names
        if all(isinstance(values.get(each), np.ndarray) for values in (before, after))
        if before[each].dtype.kind in ("f" if _has_other_sizes(case, point) else "fiu")
        if before[each].size and after[each].size
    )


def _has_other_sizes(case: Point, point: Point) -> bool:
    before, after = _named(case), _named(point)
    return any(
        isinstance(value := after[case.names[at]], int | tuple | list)
        and value != before[case.names[at]]
        for at in case.plain
        if case.names[at] in after
    )


def _is_like(given: Any, statement: Statement, known: Mapping[str, Any]) -> bool:
    if isinstance(given, bool) or not isinstance(given, int | float | str | np.ndarray):
        return True  # A statement says nothing of None.
    try:
        return statement.holds(given, known)
    except TypeError:  # A comparison of words or of complex numbers.
        return True


def _named(point: Point) -> dict[str, Any]:
    return dict(zip(point.names, point.values, strict=True))


# ---- extents that depend on a number ----------------------------------------------------------


def _short(text: str, case: Point) -> Iterator[Constraint]:
    """Constraints that a tensor has no more entries along an axis than a text allows."""
    for match in _LENGTH.finditer(text):
        if match["name"] in case.names:
            yield partial(_is_short, match["name"], int(match["most"]) - (match["sign"] == "<"))


def _is_short(name: str, most: int, point: Point) -> bool:
    return max(np.shape(_named(point).get(name, 0)), default=0) <= most


def _longer(text: str, shapes: Shapes, case: Point) -> Iterator[Constraint]:
    """Constraints that axes stay longer than an argument, as ``N > ddof`` asks of some of them."""
    for match in _LONGER.finditer(text):
        if match["extent"] not in {*case.names, *symbols(shapes, case)}:
            yield partial(_is_longer, match["than"], int(match["sign"] != ">"), case)


def _is_longer(name: str, slack: int, case: Point, point: Point) -> bool:
    before, after = _named(case).get(name), _named(point).get(name)
    if type(before) is not int or type(after) is not int:
        return True
    longer = {
        (case.names[at], axis)
        for at, array in case.arrays()
        for axis, extent in enumerate(array.shape)
        if extent + slack > before
    }
    return all(
        extent + slack > after
        for at, array in point.arrays()
        for axis, extent in enumerate(array.shape)
        if (point.names[at], axis) in longer
    )


def _multiples(text: str, case: Point) -> Iterator[Constraint]:
    """Constraints that extents which are multiples of a documented number stay so."""
    for match in _MULTIPLE.finditer(text):
        if not _NEEDLESS.search(match["before"]):
            yield _multiple_of(match["value"], case)


def _multiple_of(value: str, case: Point) -> Constraint:
    def factor(point: Point) -> int:
        number = int(value) if value.isdecimal() else _named(point).get(value)
        return number if type(number) is int and number > 1 else 1

    usual = {
        (case.names[at], axis)
        for at, array in case.arrays()
        for axis, extent in enumerate(array.shape)
        if extent > 1 and not extent % factor(case)
    }

    def holds(point: Point) -> bool:
        return all(
            not extent % factor(point)
            for at, array in point.arrays()
            for axis, extent in enumerate(array.shape)
            if (point.names[at], axis) in usual
        )

    return holds


def _is_varied(may_be_one: bool, point: Point) -> bool:
    """Return True if no row of an input repeats one number; one of a single number `may_be_one`."""
    tracked = [point.values[at] for at in sorted(point.tracked)]
    return all(
        bool((np.ptp(array, axis=-1) > 0).all())
        for array in tracked
        if array.size and array.ndim and not (may_be_one and array.shape[-1] == 1)
    )


# ---- indices ----------------------------------------------------------------------------------


def _kept_apart(case: Point) -> Iterator[Constraint]:
    """Constraints that the ends of an edge, or the vertices of a face, stay different."""
    integers = [at for at, array in case.arrays() if array.dtype.kind in "iu" and array.size > 1]
    for one, other in combinations(integers, 2):
        names = case.names[one], case.names[other]
        if case.values[one].shape == case.values[other].shape:
            yield partial(_differ, names)
    for at in integers:
        name, array = case.names[at], case.values[at]
        if array.ndim == 2:
            axes = (1,) if array.shape[1] <= array.shape[0] else (0, 1)
            few = [axis for axis in axes if 1 < array.shape[axis] <= _MOST_ENDS]
            apart = (partial(_are_apart, name, axis) for axis in few)
            yield from islice((each for each in apart if each(case)), 1)


def _entries_apart(case: Point) -> Iterator[Constraint]:
    """Constraints that numbers at one place of two tensors, as edges of boxes, stay different."""
    for (one, first), (other, second) in combinations(case.continuous(), 2):
        if first.shape == second.shape:
            yield partial(_differ, (case.names[one], case.names[other]))


def _distinct(case: Point) -> Iterator[Constraint]:
    """Constraints that indices which are distinct stay so, by themselves or with others."""
    integers = [case.names[at] for at, array in case.arrays() if array.dtype.kind in "iu"]
    for count in (1, 2):
        for names in combinations(integers, count):
            yield partial(_have_no_repeats, names)


def _have_no_repeats(names: Sequence[str], point: Point) -> bool:
    """Return True if index tensors of one shape never have the same entries at two places."""
    found = [_named(point).get(name) for name in names]
    arrays = [each.reshape(-1) for each in found if isinstance(each, np.ndarray)]
    if len(arrays) < len(names) or len({each.size for each in arrays}) > 1:
        return True
    return len(np.unique(np.stack(arrays), axis=1).T) == arrays[0].size


def _sorting(case: Point) -> Iterator[Constraint]:
    """Constraints that numbers are in order when they are read in the order of an index."""
    floats = [case.names[at] for at, array in case.arrays() if array.dtype.kind == "f"]
    for order in (case.names[at] for at, array in case.arrays() if array.dtype.kind in "iu"):
        for keys in floats:
            for sign in (1, -1):
                yield partial(_sorts, order, keys, sign)


def _sorts(order: str, keys: str, sign: int, point: Point) -> bool:
    places, values = (_named(point).get(name) for name in (order, keys))
    if not isinstance(places, np.ndarray) or not isinstance(values, np.ndarray):
        return True
    if not places.ndim or places.shape != values.shape or not is_permutation_along(places, -1):
        return False
    return bool((np.diff(np.take_along_axis(values, places, -1)) * sign >= 0).all())


def _differ(names: tuple[str, str], point: Point) -> bool:
    """Return True if no entry of an index is at the same place in the other.

    What a mask leaves out may be anything.
    """
    one, other = (_named(point).get(name) for name in names)
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return True
    if one.shape != other.shape:
        return True
    masks = [each for _, each in point.arrays() if each.dtype.kind == "b"]
    kept = [each for each in masks if each.shape == one.shape]
    return not bool(((one == other) & np.all(kept, axis=0)).any())


def _are_apart(name: str, axis: int, point: Point) -> bool:
    """Return True if no entry is repeated along an axis."""
    array = _named(point).get(name)
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.shape[axis] > _MOST_ENDS:
        return True
    ordered = np.sort(array, axis=axis)
    return not bool((np.diff(ordered, axis=axis) == 0).any())
