"""One thing done by two sides in this process, and what came of timing them in turn.

Counted is processor time, which other processes do not lengthen; the machine's other ups and
downs hit both sides of a pair alike. What counts is the median of the ratios pair by pair.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

ROUNDS = 7
LEAST = 0.06
"""Seconds that a batch of one side's runs takes at least: some clocks count in hundredths."""


class Pair(NamedTuple):
    """What each side runs; `ours` is gradtool's."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]


class Timed(NamedTuple):
    """The medians of both sides in seconds, and of the ratio of ours to theirs."""

    name: str
    ours: float
    theirs: float
    ratio: float


def timed(pair: Pair, rounds: int = ROUNDS, least: float = LEAST) -> Timed:
    """Run both sides in turn, once before the first round that counts."""
    pair.ours(), pair.theirs()
    here, there = _repeats(pair.ours, least), _repeats(pair.theirs, least)
    turns = [(_mean(pair.ours, here), _mean(pair.theirs, there)) for _ in range(rounds)]
    ours, theirs = (statistics.median(side) for side in zip(*turns, strict=True))
    return Timed(pair.name, ours, theirs, statistics.median(a / b for a, b in turns))


def timed_alone(run: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """The median of one side, in seconds."""
    run()
    repeats = _repeats(run, LEAST)
    return statistics.median(_mean(run, repeats) for _ in range(rounds))


def _repeats(run: Callable[[], Any], least: float) -> int:
    start = time.perf_counter()
    run()
    return max(1, int(least / (time.perf_counter() - start)))


def _mean(run: Callable[[], Any], repeats: int) -> float:
    return _seconds(lambda: [run() for _ in range(repeats)]) / repeats


def _seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
