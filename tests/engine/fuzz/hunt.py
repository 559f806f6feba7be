"""Looks for programs that differ among many, and shrinks the first of each cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.engine.fuzz.compare import Difference
from tests.engine.fuzz.generate import generate
from tests.engine.fuzz.program import Program
from tests.engine.fuzz.run import Outcome, compared
from tests.engine.fuzz.shrink import shrink


@dataclass(frozen=True)
class Found:
    """A program that differs."""

    name: str
    """The signature before it was shrunk."""
    seed: int
    program: Program
    difference: Difference


def differing(seed: int, families: tuple[str, ...] = ()) -> tuple[Program, Difference] | None:
    """The program of a seed with its first difference that has no explanation, if any."""
    program = generate(seed, families)
    difference = compared(program).difference
    return None if difference is None else (program, difference)


@dataclass
class Tally:
    """Programs by how far they were compared, and by the reasons that were met in them."""

    compared: int = 0
    whole: int = 0
    """Compared to their end in every fact."""
    in_doubt: int = 0
    """Compared to their end, but for the facts that a reason puts in doubt."""
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        """Count a program."""
        self.compared += 1
        self.reasons.update(outcome.reasons)
        if outcome.difference is None:
            self.whole += not outcome.doubts.of
            self.in_doubt += bool(outcome.doubts.of)

    def merge(self, other: Tally) -> None:
        """Count those of another tally too."""
        self.compared += other.compared
        self.whole += other.whole
        self.in_doubt += other.in_doubt
        self.reasons += other.reasons


def hunt(
    seeds: Sequence[int], families: tuple[str, ...], known: set[str], tally: Tally
) -> Iterator[Found]:
    """What differs among these seeds; what was not known before is shrunk."""
    for seed in seeds:
        program = generate(seed, families)
        outcome = compared(program)
        tally.add(outcome)
        difference = outcome.difference
        if difference is None:
            continue
        name = difference.signature()
        if name not in known:
            known.add(name)
            program, difference = shrunk(program, difference)
        yield Found(name, seed, program, difference)


def shrunk(program: Program, difference: Difference) -> tuple[Program, Difference]:
    """The smallest program with a difference of the same signature."""
    wanted = _kind(difference)

    def differs(tried: Program) -> bool:
        found = compared(tried).difference
        return found is not None and _kind(found) == wanted

    small = shrink(program, differs)
    return small, compared(small).difference or difference


def _kind(difference: Difference) -> tuple[str, str]:
    """What a shrunk program keeps: the error, or the fact that differs."""
    if difference.what == "error":
        return "error", f"{difference.expected} {difference.got}"
    if difference.what.endswith(("grad_fn", "events")):
        return difference.what, ""
    return difference.what, ""
