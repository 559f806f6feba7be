"""Looks for differences: ``python -m tests.engine.fuzz --seed 0 --count 1000``.

Prints each cause once: how often it came up, the facts, and the smallest program as a script.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter

from tests.engine.fuzz.hunt import Found, hunt


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser("python -m tests.engine.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--count", type=int, default=1000, help="programs")
    parser.add_argument("--family", action="append", default=[], help="statements to write most of")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    started = time.perf_counter()
    seeds = range(asked.seed, asked.seed + asked.count)
    parts = [(seeds[at :: asked.jobs], tuple(asked.family)) for at in range(asked.jobs)]
    if asked.jobs == 1:
        results = [part(*parts[0])]
    else:
        with multiprocessing.get_context("spawn").Pool(asked.jobs) as pool:
            results = pool.starmap(part, parts)
    causes: dict[str, Found] = {}
    counts: Counter[str] = Counter()
    for found, number in results:
        counts += number
        for name, each in found.items():
            causes.setdefault(name, each)
    for name, number in counts.most_common():
        show(name, number, causes[name])
    took = time.perf_counter() - started
    print(f"{asked.count} programs, {sum(counts.values())} differ in {len(counts)} ways, {took:.0f} s")
    return 1 if counts else 0


def part(seeds: range, families: tuple[str, ...]) -> tuple[dict[str, Found], Counter[str]]:
    """The causes that some of the seeds find."""
    causes: dict[str, Found] = {}
    counts: Counter[str] = Counter()
    for name, found in hunt(seeds, families, set()):
        counts[name] += 1
        causes.setdefault(name, found)
    return causes, counts


def show(name: str, number: int, found: Found) -> None:
    """Print a cause."""
    difference = found.difference
    print(f"=== {number} x {name}   (seed {found.seeds[0]})")
    print(f"    {difference.what} of {difference.where or 'statement'} after {difference.statement!r}")
    print(f"    torch:  {difference.expected}\n    engine: {difference.got}")
    if difference.note:
        print(f"    {difference.note}")
    for statement in found.program.statements:
        print("  | " + statement.replace("\n", "\n  | "))
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
