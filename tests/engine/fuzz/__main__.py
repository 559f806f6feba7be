"""Looks for differences: ``python -m tests.engine.fuzz --seed 0 --count 1000``.

Prints each cause once: how often it came up, the facts, and the smallest program as a script. Then
in how many programs each of the reasons in ``explained.py`` was met.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.engine.fuzz.hunt import Found, Tally
from tests.engine.fuzz.workers import answers


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser("python -m tests.engine.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--count", type=int, default=1000, help="programs")
    parser.add_argument("--family", action="append", default=[], help="statements to write most of")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    started = time.perf_counter()
    causes: dict[str, Found] = {}
    counts: Counter[str] = Counter()
    tally, ended = Tally(), 0
    for answer in answers(asked.seed, asked.count, tuple(asked.family), asked.jobs):
        if isinstance(answer, str):
            print(answer, flush=True)
            ended += 1
            continue
        tally.merge(answer[1])
        for found in answer[0]:
            counts[found.name] += 1
            causes.setdefault(found.name, found)
    for name, number in counts.most_common():
        show(name, number, causes[name])
    for reason, number in tally.reasons.most_common():
        print(f"{number:6} explained: {reason}")
    took = time.perf_counter() - started
    print(
        f"{tally.compared + ended} programs in {took:.0f} s: {tally.whole} agree to their end, "
        f"{tally.in_doubt} but for what a reason puts in doubt, "
        f"{sum(counts.values())} differ in {len(counts)} ways, {ended} end PyTorch or the engine"
    )
    return 1 if counts else 0


def show(name: str, number: int, found: Found) -> None:
    """Print a cause."""
    difference = found.difference
    print(f"=== {number} x {name}   (seed {found.seed})")
    print(
        f"    {difference.what} of {difference.where or 'statement'} after {difference.statement!r}"
    )
    print(f"    torch:  {difference.expected}\n    engine: {difference.got}")
    if any(difference.texts):
        print(f"    {' | '.join(difference.texts)}")
    for statement in found.program.statements:
        print("  | " + statement.replace("\n", "\n  | "))
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
