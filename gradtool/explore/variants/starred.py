"""Variants with one tensor more, or one fewer, where ``forward`` takes any number of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from gradtool.explore.point import Axis, Point, Variant
from gradtool.spelling import plural
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array

_SHARE = 0.83
"""The new tensor next to the last one: a multiple keeps its sign and its order."""


def starred(point: Point, parameters: Sequence[inspect.Parameter]) -> Iterator[Variant]:
    """Yield variants of the number of tensors that ``*args`` receives.

    Args:
        point: The arguments of the case.
        parameters: Those of ``forward``.
    """
    before = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    star = next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), None)
    own = range(before, len(point.values))
    has_keywords = point.positional < len(point.values)
    if star is None or not own or has_keywords or not set(own) <= set(point.tensors):
        return
    last = len(point.values) - 1
    count = len(own)
    beside = [at for at, axis in one_for_each(point, parameters) if axis == 0]
    if is_continuous(point.values[last].dtype):
        grown = {at: _with_one_more(point.values[at]) for at in beside}
        more = replace(
            point,
            names=(*point.names, f"{star}[{count}]"),
            values=(*point.having(grown).values, point.values[last] * _SHARE),
            tensors=(*point.tensors, last + 1),
            tracked=point.tracked | ({last + 1} if last in point.tracked else set()),
            positional=point.positional + 1,
        )
        yield Variant(more, _change(star, count, count + 1))
    if count > 1:
        cut = {at: point.values[at][:-1].copy() for at in beside}
        fewer = replace(
            point,
            names=point.names[:-1],
            values=point.having(cut).values[:-1],
            tensors=tuple(at for at in point.tensors if at != last),
            tracked=point.tracked - {last},
            positional=point.positional - 1,
        )
        yield Variant(fewer, _change(star, count, count - 1))


def one_for_each(point: Point, parameters: Sequence[inspect.Parameter]) -> set[Axis]:
    """The first axes that have an entry for each tensor that ``*args`` receives, as weights do."""
    before = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    has_star = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    count = len(point.values) - before if has_star else 0
    return {(at, 0) for at, array in point.arrays() if at < before and array.shape[:1] == (count,)}


def _with_one_more(array: Array) -> Array:
    return np.concatenate([array, array[-1:]])


def _change(star: str, before: int, after: int) -> str:
    verb = "is" if after == 1 else "are"
    return f"there {verb} {plural(after, 'tensor')} in `{star}`, not {before}"
