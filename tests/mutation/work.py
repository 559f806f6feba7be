"""A whole run: the mutants of every Function, Function by Function, on several processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

from tests.mutation.originals import Original, originals
from tests.mutation.trial import Tried, a_share, try_out

_MEMORY = 4 * 2**30
"""Bytes of address space, against mutants that build ever larger tensors."""


@dataclass(frozen=True)
class Task:
    """What one process is to do in one go."""

    original: str
    seed: int
    share: float
    alarms: bool


def run(
    *, seed: int = 0, share: float = 1.0, only: str = "", jobs: int = 1, alarms: bool = False
) -> Iterator[Tried]:
    """What came of every Function whose id contains `only`, in the order of their files.

    Args:
        seed: Of the cases, of the cotangents and of the choice of mutants.
        share: Which part of the mutants to try.
        only: A part of the ids of the Functions to take.
        jobs: How many processes to use; 1: this one.
        alarms: Ask gradtool of equivalent mutants, too.
    """
    names = [each.id for each in originals(seed) if only in each.id]
    tasks = [Task(name, seed, share, alarms) for name in names]
    if jobs == 1:
        yield from map(do, tasks)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), _limit_memory) as pool:
        yield from pool.map(do, tasks)


def do(task: Task) -> Tried:
    """Try the mutants of one Function."""
    original = _originals(task.seed)[task.original]
    wanted = a_share(task.share, task.original, task.seed)
    return try_out(original, wanted, alarms=task.alarms)


@cache
def _originals(seed: int) -> dict[str, Original]:
    return {each.id: each for each in originals(seed)}


def _limit_memory() -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
