"""Variants with one tensor more, or one fewer, where ``forward`` takes any number of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradtool.explore.point import Point, Variant
from gradtool.spelling import plural
from gradtool.verify.protocol.coordinates import is_continuous

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
    if is_continuous(point.values[last].dtype):
        more = replace(
            point,
            names=(*point.names, f"{star}[{count}]"),
            values=(*point.values, point.values[last] * _SHARE),
            tensors=(*point.tensors, last + 1),
            tracked=point.tracked | ({last + 1} if last in point.tracked else set()),
            positional=point.positional + 1,
        )
        yield Variant(more, _change(star, count, count + 1))
    if count > 1:
        fewer = replace(
            point,
            names=point.names[:-1],
            values=point.values[:-1],
            tensors=tuple(at for at in point.tensors if at != last),
            tracked=point.tracked - {last},
            positional=point.positional - 1,
        )
        yield Variant(fewer, _change(star, count, count - 1))


def _change(star: str, before: int, after: int) -> str:
    verb = "is" if after == 1 else "are"
    return f"there {verb} {plural(after, 'tensor')} in `{star}`, not {before}"
