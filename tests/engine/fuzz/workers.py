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
PATIENCE = 300.0
"""Seconds for one program, shrunk if it differs; a process that takes longer is ended."""

Answer = tuple[list[Found], Tally] | str
"""What differs in one program, and how far it was compared; or why it was not compared."""


def answers(first: int, count: int, families: tuple[str, ...], jobs: int) -> Iterator[Answer]:
    """The answer to each of so many seeds."""
    libraries()
    starts = range(first, first + count, CHUNK)
    with ThreadPoolExecutor(jobs) as threads:
        parts = (range(at, min(at + CHUNK, first + count)) for at in starts)
        for found in threads.map(lambda seeds: list(_of_chunk(seeds, families)), parts):
            yield from found


def _of_chunk(seeds: range, families: tuple[str, ...]) -> Iterator[Answer]:
    """The answers of a process; of another from the next seed on, if it ended."""
    known: set[str] = set()
    while seeds:
        mine, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=_work, args=(theirs, seeds, families, known)
        )
        process.start()
        theirs.close()
        answered = 0
        for answer in _received(mine):
            known |= {each.name for each in answer[0]}
            answered += 1
            yield answer
        if answered < len(seeds):
            process.kill()  # it hangs, if it has not ended
        process.join()
        if answered < len(seeds):
            yield f"the process ended at seed {seeds[answered]} with {process.exitcode}"
        seeds = seeds[answered + 1 :]


def _received(answers: Connection) -> Iterator[tuple[list[Found], Tally]]:
    """The answers until the process ends or hangs."""
    try:
        while answers.poll(PATIENCE):
            yield answers.recv()
    except EOFError:
        return


def _work(answers: Connection, seeds: range, families: tuple[str, ...], known: set[str]) -> None:
    for seed in seeds:
        tally = Tally()
        answers.send((list(hunt([seed], families, known, tally)), tally))
    answers.close()
    gc.freeze()
