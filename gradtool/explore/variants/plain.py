"""Variants in an argument that is no tensor: a flag, a number or a word."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from itertools import combinations, product
from typing import Any

import msgspec
import numpy as np
from msgspec import structs

from gradtool.cases.inference.bounds import side
from gradtool.explore.point import Option, Point, Variant, changed_to
from gradtool.explore.reading import names
from gradtool.explore.variants.records import changed_field, fields_of, is_record, with_field

_LARGEST_GUARD = 0.01
"""Largest number that guards a division. At it, what the number does shows in a gradient."""

_LEAST_GUARD = 1e-6
"""Below it, a gradient that leaves out the guard is right to all digits that float32 has."""

_LEAST_POSITIVE = 0.1
"""Distance from zero of numbers that are to be positive."""

_WHOLE = (1, 2, 3)
"""Integers in the place of None."""

_FEW_ROUNDS = 2
"""Rounds after which hardly any iteration has converged."""

_MOST_ENTRIES_CHANGED = 3
"""Entries of a tuple that change alone."""

_MOST_PAIRS = 6
"""Pairs of choices that change at once."""

_SMALL_BLOCK = 3
"""A size of blocks of which several fit, where the one of the case is more than all there is."""

_ROOT = 0.5
"""An exponent below one: the derivative of such a power has a pole at zero."""

_SMALL = 1e-3
"""A number below this guards a division; twice as much of it shows nothing."""


class Options(msgspec.Struct, frozen=True, eq=False):
    """Knowledge of the arguments of a Function that are no tensors.

    Args:
        words: For a parameter the strings that the source compares it with.
        kept: Names of numbers that are large enough, as far as is known: only larger ones serve.
        counts: Names of numbers of rounds of which a docstring calls the result that of so many.
        fixed: Names of what stays as it is.
        free: Names of numbers that may be negative too.
        divided: Names of integers that may have to be multiples of something.
        whole: Names of what is None by default, or else a positive integer.
        tested: Names of numbers whose truth the source tests, as if zero stood for None.
        step: Distance of integers that may be as good: 2 where all have to be odd or even.
        elsewhere: For a name the values that some case gives, tried where they are of another type.
        mentioned: For a name the numbers that docstrings say it may equal.
        exponents: Names of numbers that something is raised to.
        axis_counts: Names of numbers of axes that leave another axis of each tensor.
        natural: Names of integers that are never negative: choices by number, and loop counts.
        may_be_infinite: Docstrings speak of bounds that are infinite.
        grows_guards: A small number that guards a division may be larger.
        positive: Names of what a docstring calls positive: there, a guard may be of any size.
    """

    words: Mapping[str, Sequence[str | None]] = {}
    kept: Collection[str] = ()
    counts: Collection[str] = ()
    fixed: Collection[str] = ()
    free: Collection[str] = ()
    divided: Collection[str] = ()
    whole: Collection[str] = ()
    tested: Collection[str] = ()
    step: int = 1
    elsewhere: Mapping[str, Sequence[Any]] = {}
    mentioned: Mapping[str, Sequence[float]] = {}
    exponents: Collection[str] = ()
    axis_counts: Collection[str] = ()
    natural: Collection[str] = ()
    may_be_infinite: bool = False
    grows_guards: bool = False
    positive: Collection[str] = ()


def plain(
    point: Point, parameters: Sequence[inspect.Parameter], known: Options
) -> Iterator[Variant]:
    """Yield variants of each argument that is not a tensor, then those of several such arguments.

    Args:
        point: The arguments of the case.
        parameters: Those of ``forward``.
        known: What is known of them.
    """
    full = with_defaults(point, parameters)
    # Instead of None, forward finds a number by itself.
    may_be_none = {each.name for each in parameters if each.default is None}
    values = {at: list(_values(full, at, known)) for at in full.plain}
    for at, others in values.items():
        if others and full.names[at] in may_be_none and full.values[at] is not None:
            others.append(None)
    for turn in range(max(map(len, values.values()), default=0)):
        for at, others in values.items():
            if turn < len(others):
                change = _change(full, at, others[turn])
                yield Variant(
                    full.having({at: others[turn]}),
                    change,
                    options=[Option(at, full.values[at], change)],
                    is_plain=True,
                    may_raise=_may_raise(full.names[at], others[turn], known.divided)
                    and not fits(full, full.names[at], others[turn], known.divided),
                )
    yield from _several(full, {at: others for at, others in values.items() if others})


def _several(full: Point, values: Mapping[int, Sequence[Any]]) -> Iterator[Variant]:
    """Yield variants of all arguments at once, then those of two choices at once.

    Where a choice is among more than two, a number may be forgotten with one of the others only.
    """
    together = [
        {at: min(turn, len(others) - 1) for at, others in values.items()}
        for turn in range(max(map(_choices, values.values()), default=1) or 1)
    ]
    chosen = [at for at, others in values.items() if _choices(others)]
    pairs = [
        dict(zip(pair, places, strict=True))
        for pair in combinations(chosen, 2)
        for places in product(*(range(len(values[at])) for at in pair))
    ]
    tried = list[dict[int, int]]()
    for each in [*together, *pairs[:_MOST_PAIRS]]:
        if len(each) > 1 and each not in tried:
            tried.append(each)
            changed = {at: values[at][place] for at, place in each.items()}
            options = [Option(at, full.values[at], _change(full, at, changed[at])) for at in each]
            change = ", and ".join(option.change for option in options)
            yield Variant(full.having(changed), change, options=options, is_plain=True)


def _choices(others: Sequence[Any]) -> int:
    """Number of values that are flags, words or None, if all are."""
    return len(others) * all(isinstance(each, bool | str | Enum | None) for each in others)


def _values(point: Point, at: int, known: Options) -> Iterator[Any]:
    """Yield other values that one argument may have, by what is known of it."""
    name, value = point.names[at], point.values[at]
    if is_kept(name, value):
        if known.grows_guards and _is_small_guard(
            point, at, least=0.0 if name in known.positive else _LEAST_GUARD
        ):
            yield _LARGEST_GUARD
        return
    if name in known.fixed:
        return
    given = [each for each in known.elsewhere.get(name, ()) if type(each) is not type(value)]
    found: list[Any] = [type(value)(0)] if name in known.tested and _is_number(value) else []
    others = _other_values(point, at, known.words.get(name, ()), known.free, known.step)
    found += (each for each in others if name not in known.natural or each >= 0)
    found += _special(name, value, known)
    found += _WHOLE if value is None and name in known.whole else ()
    found = [*given, *(each for each in found if not is_among(each, given))]
    if name in known.axis_counts:
        rank = min((array.ndim for _, array in point.continuous()), default=0)
        found = [each for each in found if not isinstance(each, int) or each < rank]
    yield from (each for each in found if name not in known.kept or _is_more(each, point, at))


def _special(name: str, value: Any, known: Options) -> Iterator[Any]:
    """Yield numbers that are special for what an argument is: the root of a power, an open end."""
    if type(value) is float:
        yield from (n for n in known.mentioned.get(name, ()) if n != value)
        if name in known.exponents and value >= 1:
            yield _ROOT
        end = side(name) if known.may_be_infinite else None
        if end is not None:
            yield math.copysign(math.inf, end[0])
    elif type(value) is int:
        if name in known.counts and value > _FEW_ROUNDS:
            yield _FEW_ROUNDS
        yield from (int(n) for n in known.mentioned.get(name, ()) if n != value and n == n // 1)


def is_among(value: Any, others: Iterable[Any]) -> bool:
    """Return True for a value that others equal, of one type with it."""
    return any(type(each) is type(value) and bool(each == value) for each in others)


def _is_number(value: Any) -> bool:
    """Return True for a number other than zero."""
    return type(value) in (int, float) and value != 0


def among_positive(point: Point, options: Iterable[Variant]) -> Iterator[Variant]:
    """Yield variants of other flags and words among the options, with positive tensors.

    What is a logarithm under one flag may have to be positive under another.
    """
    signed = [
        at for at, array in point.continuous() if array.dtype.kind == "f" and (array < 0).any()
    ]
    positive = {at: np.abs(point.values[at]) + _LEAST_POSITIVE for at in signed}
    for option in options:
        if signed and is_choice(point, option):
            change = f"{option.change}, and all tensors are positive"
            yield structs.replace(option, point=option.point.having(positive), change=change)


def is_choice(point: Point, option: Variant) -> bool:
    """Return True if only flags and words differ."""
    changed = [at for at in point.plain if option.point.values[at] is not point.values[at]]
    return all(isinstance(point.values[at], bool | str) for at in changed)


def _change(point: Point, at: int, value: Any) -> str:
    """Say which value an argument, or one of its fields, has instead of that of the case."""
    name, before = point.names[at], point.values[at]
    if is_record(before):
        field, before, value = changed_field(before, value)
        name = f"{name}[{field!r}]" if isinstance(point.values[at], dict) else f"{name}.{field}"
    return changed_to(name, value, before)


def is_kept(name: str, value: Any) -> bool:
    """Return True for an argument that is left as it is.

    An epsilon of zero guards nothing: it may be a share, as of smoothed labels.
    """
    if names.is_guard(name):
        is_open = value == 0.0 and names.is_epsilon(name)
        return not isinstance(value, float) or (abs(value) < _LARGEST_GUARD and not is_open)
    return names.is_kept(name)


def _is_small_guard(point: Point, at: int, least: float) -> bool:
    value = point.values[at]
    is_small = type(value) is float and least <= value < _LARGEST_GUARD
    return is_small and names.is_epsilon(point.names[at])


def with_defaults(point: Point, parameters: Sequence[inspect.Parameter]) -> Point:
    """The same call with the defaults of ``forward`` written out."""
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    left = places[point.positional :]
    if point.positional < len(point.values) or any(p.default is p.empty for p in left):
        return point
    return structs.replace(
        point,
        names=(*point.names, *(p.name for p in left)),
        values=(*point.values, *(p.default for p in left)),
        positional=point.positional + len(left),
    )


def _may_raise(name: str, value: Any, divided: Collection[str]) -> bool:
    """Return True for what forward may accept by accident, as a number of parts with a rest."""
    is_part = names.is_count(name) or name in divided
    return (
        isinstance(value, tuple | list) or is_record(value) or (isinstance(value, int) and is_part)
    )


def fits(point: Point, name: str, value: Any, divided: Collection[str]) -> bool:
    """Return True for a number of which all extents but those of one are multiples.

    Not for one that is `divided` itself, as an extent that has to be even.
    """
    if type(value) is not int or value <= 0 or name in divided:
        return False
    extents = {extent for _, array in point.arrays() for extent in array.shape if extent > 1}
    return not any(extent % value for extent in extents)


def _is_more(value: Any, point: Point, at: int) -> bool:
    before = point.values[at]
    return isinstance(value, int | float) and isinstance(before, int | float) and value > before


def _other_values(
    point: Point, at: int, words: Sequence[str | None], free: Collection[str], step: int
) -> Iterator[Any]:
    """Other values of one argument, the likeliest first."""
    name, value = point.names[at], point.values[at]
    if names.is_axis(name) and not isinstance(value, bool):
        rank = max((array.ndim for _, array in point.continuous()), default=0)
        yield from _other_axes(value, rank)
    elif is_record(value):
        yield from _other_records(value, step)
    elif isinstance(value, tuple | list):
        yield from _other_tuples(value, step)
    elif isinstance(value, Enum):
        yield from (member for member in type(value) if member is not value)
    else:
        longest = max((n for _, array in point.arrays() for n in array.shape), default=0)
        if type(value) is int and names.is_part_size(name) and value > longest > _SMALL_BLOCK:
            yield _SMALL_BLOCK
        yield from _others(value, words, step)
        of_kind = names.is_signed if type(value) is int else names.is_free_number
        is_signed = name in free or of_kind(name)
        if type(value) in (int, float) and value > 0 and is_signed:
            yield -value


def _other_axes(value: Any, rank: int) -> Iterator[Any]:
    """Other axes of a tensor, counted from the same end, then two from the other end."""
    if not rank:
        return
    if value is None:
        yield from (0, -1)
    elif isinstance(value, int):
        others = [axis for axis in range(rank) if axis != value % rank]
        yield from (axis - rank if value < 0 else axis for axis in others)
        # From the end, the last one is -1: what comes behind it begins at zero.
        chosen = dict.fromkeys((value % rank, *others[:1], rank - 1))
        yield from (axis if value < 0 else axis - rank for axis in chosen)
    elif isinstance(value, tuple | list) and all(type(each) is int for each in value):
        if sorted(each % rank for each in value) == list(range(rank)):
            cycle = [*range(1, rank), 0]  # Not its own inverse for more than two axes.
            yield type(value)(cycle if list(value) != cycle else [rank - 1, *range(rank - 1)])
        elif value and len(value) < rank:
            yield type(value)((each + 1) % rank for each in value)
            if not value[1:]:
                start = rank if value[0] < 0 else 0
                both = sorted({value[0] % rank, (value[0] - 1) % rank})
                yield type(value)(axis - start for axis in both)


def _other_records(value: Any, step: int) -> Iterator[Any]:
    """The record with one other value of a field, for each field in turn."""
    own = {name: each for name, each in fields_of(value).items() if not is_kept(name, each)}
    others = {name: [*_others(each, (), step)] for name, each in own.items()}
    for turn in range(max(map(len, others.values()), default=0)):
        for name, values in others.items():
            if turn < len(values):
                with suppress(Exception):  # Its class may refuse the value in any way.
                    yield with_field(value, name, values[turn])


def _other_tuples(value: tuple[Any, ...] | list[Any], step: int) -> Iterator[Any]:
    """The tuple with another number at one place, and at all of them; none of tensors."""
    if not all(isinstance(each, int | float | str | None) for each in value):
        return
    others = [next(_others(each, (), step), each) for each in value]
    for at in reversed(range(min(len(value), _MOST_ENTRIES_CHANGED))):
        if others[at] != value[at]:
            yield type(value)([*value[:at], others[at], *value[at + 1 :]])
    if len(value) > 1 and others != list(value):
        yield type(value)(others)


def _others(value: Any, words: Sequence[str | None], step: int) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + step, value - step) if value > step else (value + step,)
        if value in (0, 1) and step == 1:
            yield value + 2
    elif isinstance(value, float):
        yield from _numbers(value)
    elif isinstance(value, str) or value is None:
        yield from (word for word in words if word != value)


def _numbers(value: float) -> Iterator[float]:
    """Numbers of the sign of `value` that are as unlike 0, 1 and 2 as can be."""
    if value == 0:
        yield 0.3
    elif abs(value) >= _SMALL:
        sign = 1.0 if value > 0 else -1.0
        size = abs(value)
        # A share of one stays a share of one.
        yield sign * (0.6 if size == 1 else size * 0.7)
        if size >= 1:
            yield sign * size * 1.7
