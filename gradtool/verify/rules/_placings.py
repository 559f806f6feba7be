"""Dimensions to batch arguments along: a small set that tells one argument's from another's.

A rule for batches that takes one argument's entry of ``in_dims`` for another's is right wherever
both are the same. So every two arguments are placed in every two ways: along the first dimension,
along the last, and not batched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

InDims = tuple[int | None, ...]

_Pair = tuple[int, int | None, int, int | None]
"""Two arguments, each followed by its place."""


def simple_placings(ranks: Sequence[int | None]) -> Iterator[InDims]:
    """Yield all arguments along the first dimension, each alone, and all along the last.

    Args:
        ranks: The number of dimensions of each argument; None for one that is never batched.
    """
    chosen = [i for i, rank in enumerate(ranks) if rank is not None]
    yield tuple(None if rank is None else 0 for rank in ranks)
    if len(chosen) > 1:
        for alone in chosen:
            yield tuple(0 if i == alone else None for i in range(len(ranks)))
    if any(ranks):
        yield tuple(ranks)


def covering_placings(ranks: Sequence[int | None]) -> Iterator[InDims]:
    """Yield the simple placings, and more until every two arguments were placed in every two ways.

    Each of the others is chosen to place as many pairs anew as it can, which keeps them few.
    """
    ways = [_ways(rank) for rank in ranks]
    missing = dict.fromkeys(_pairs_of(ways))  # In the order in which they are looked for.
    for placing in simple_placings(ranks):
        yield placing
        _remove(missing, placing)
    while missing:
        placing = _with_most(missing, ways)
        yield placing
        _remove(missing, placing)


def _ways(rank: int | None) -> tuple[int | None, ...]:
    if rank is None:
        return (None,)
    return (0, rank, None) if rank else (0, None)


def _pairs_of(ways: Sequence[Sequence[int | None]]) -> Iterator[_Pair]:
    """All pairs to place; not two arguments left out, which says nothing of either."""
    for i, j in combinations(range(len(ways)), 2):
        for one in ways[i]:
            yield from ((i, one, j, other) for other in ways[j] if (one, other) != (None, None))


def _remove(missing: dict[_Pair, None], placing: InDims) -> None:
    for i, j in combinations(range(len(placing)), 2):
        missing.pop((i, placing[i], j, placing[j]), None)


def _with_most(missing: dict[_Pair, None], ways: Sequence[Sequence[int | None]]) -> InDims:
    """The first missing pair, and every other argument where it makes most missing pairs."""
    i, one, j, other = next(iter(missing))
    placed = {i: one, j: other}
    for at, possible in enumerate(ways):
        if at not in placed:
            placed[at] = max(possible, key=lambda way: _gain(missing, {**placed, at: way}))
    return tuple(placed[at] for at in range(len(ways)))


def _gain(missing: dict[_Pair, None], placed: dict[int, int | None]) -> int:
    """The number of missing pairs among arguments that are placed so."""
    pairs = combinations(sorted(placed), 2)
    return sum((i, placed[i], j, placed[j]) in missing for i, j in pairs)
