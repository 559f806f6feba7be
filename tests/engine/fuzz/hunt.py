"""Runs many programs, in processes of their own, and keeps one shrunk program of each cause."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.engine.fuzz.compare import Difference
from tests.engine.fuzz.explained import reason_of
from tests.engine.fuzz.generate import generate
from tests.engine.fuzz.program import Program
from tests.engine.fuzz.run import compared
from tests.engine.fuzz.shrink import shrink


@dataclass
class Found:
    """Programs that differ in one way."""

    program: Program
    difference: Difference
    raising: frozenset[int]
    seeds: list[int] = field(default_factory=list)


def differing(seed: int, families: tuple[str, ...] = ()) -> tuple[Program, Difference] | None:
    """The program of a seed with its first difference that has no explanation, if any."""
    program = generate(seed, families)
    difference, _ = compared(program)
    if difference is None or reason_of(difference, program):
        return None
    return program, difference


def hunt(seeds: Sequence[int], families: tuple[str, ...], known: set[str]) -> Iterator[tuple[str, Found]]:
    """The causes found by these seeds, by signature; those not known before are shrunk."""
    for seed in seeds:
        found = differing(seed, families)
        if seed % 500 == 0:
            gc.collect()
        if found is None:
            continue
        program, difference = found
        name = difference.signature()
        if name not in known:
            program, difference = shrunk(program, difference)
            known.add(name)
        yield name, Found(program, difference, compared(program)[1], [seed])


def shrunk(program: Program, difference: Difference) -> tuple[Program, Difference]:
    """The smallest program with a difference of the same signature."""
    wanted = _kind(difference)

    def differs(tried: Program) -> bool:
        found, _ = compared(tried)
        return found is not None and _kind(found) == wanted and not reason_of(found, tried)

    small = shrink(program, differs)
    return small, compared(small)[0] or difference


def _kind(difference: Difference) -> tuple[str, str]:
    """What a shrunk program keeps: the error, or the fact that differs."""
    if difference.what == "error":
        return "error", f"{difference.expected} {difference.got}"
    if difference.what.endswith(("grad_fn", "events")):
        return difference.what, ""
    return difference.what, ""


def counted(found: Iterator[tuple[str, Found]]) -> tuple[dict[str, Found], Counter[str]]:
    """All causes with their counts."""
    causes: dict[str, Found] = {}
    counts: Counter[str] = Counter()
    for name, each in found:
        counts[name] += 1
        causes.setdefault(name, each).seeds.extend(each.seeds)
    return causes, counts
