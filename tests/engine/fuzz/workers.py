"""Runs the hunt in processes of their own, so that one that PyTorch ends costs one program."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

from tests.engine.fuzz.hunt import Found, Tally, hunt
from tests.engine.fuzz.run import libraries

CHUNK = 200
"""Programs of one process, before its memory is given back."""

Answer = tuple[list[Found], Tally] | str
"""What differs in a chunk, with how far it was compared, or the seed at which its process ended."""


def answers(first: int, count: int, families: tuple[str, ...], jobs: int) -> Iterator[Answer]:
    """What differs among so many seeds."""
    libraries()
    starts = range(first, first + count, CHUNK)
    with ThreadPoolExecutor(jobs) as threads:
        parts = (range(at, min(at + CHUNK, first + count)) for at in starts)
        for found in threads.map(lambda seeds: list(_of_chunk(seeds, families)), parts):
            yield from found


def _of_chunk(seeds: range, families: tuple[str, ...]) -> Iterator[Answer]:
    """The answers of a process; of another from the next seed on, if it ended."""
    while seeds:
        mine, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=_work, args=(theirs, seeds, families)
        )
        process.start()
        theirs.close()
        at, found = seeds[0], None
        while found is None:
            try:
                at, found = mine.recv()
            except EOFError:
                break
        process.join()
        if found is not None:
            yield found
            return
        yield f"the process ended at seed {at} with {process.exitcode}"
        seeds = range(at + 1, seeds.stop)


def _work(answer: Connection, seeds: range, families: tuple[str, ...]) -> None:
    known: set[str] = set()
    found: list[Found] = []
    tally = Tally()
    for seed in seeds:
        answer.send((seed, None))
        found += hunt([seed], families, known, tally)
    answer.send((seeds[-1], (found, tally)))
    answer.close()
    gc.freeze()
