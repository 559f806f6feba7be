"""One mutant from its source to what was said of it."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.mutation.asking import ask
from tests.mutation.judging import WRONG, Judgement, Kind, judge
from tests.mutation.mutants import Mutant, mutants
from tests.mutation.originals import Original
from tests.mutation.reference import Reference, reference

DOUBT = "GT603"


@dataclass(frozen=True)
class Trial:
    """What came of one mutant."""

    fingerprint: str
    method: str
    operator: str
    kind: Kind
    what: str
    """Which answer is wrong."""
    rules: tuple[str, ...]
    """What gradtool found; nothing of one that is not wrong, unless it was asked for."""
    seconds: float
    """Of computing."""

    @property
    def is_wrong(self) -> bool:
        return self.kind in WRONG

    @property
    def survives(self) -> bool:
        return self.is_wrong and not self.rules

    @property
    def is_unverified(self) -> bool:
        """Nothing was found but doubt."""
        return self.rules == (DOUBT,)


@dataclass(frozen=True)
class Tried:
    """All trials of one Function."""

    original: str
    routes: tuple[str, ...]
    """Where the reference of each case comes from."""
    not_asked: tuple[str, ...]
    trials: tuple[Trial, ...]


Wanted = Callable[[Mutant], bool]


def a_share(share: float, *seed: object) -> Wanted:
    """Takes about this part of the mutants, always the same ones for a seed."""
    draw = random.Random(" ".join(map(str, seed)))
    return lambda _: share >= 1 or draw.random() < share


def try_out(original: Original, wanted: Wanted, *, alarms: bool = False) -> Tried:
    """Try mutants of a Function.

    Args:
        original: The right Function.
        wanted: Which of its mutants to try.
        alarms: Ask gradtool of equivalent mutants, too: what it finds of them may be false.
    """
    with original.active(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Mutants divide by zero, and worse.
        references = [reference(original, case, original.seed) for case in original.cases]
        trials = [
            _trial(original, mutant, references, alarms=alarms)
            for mutant in mutants(original)
            if wanted(mutant)
        ]
    return Tried(
        original.id,
        tuple(each.route for each in references),
        tuple(name for each in references for name in each.not_asked),
        tuple(trials),
    )


def _trial(
    original: Original, mutant: Mutant, references: Sequence[Reference], *, alarms: bool
) -> Trial:
    started = time.process_time()
    target, judgement = _judged(original, mutant, references)
    rules: tuple[str, ...] = ()
    asked = judgement.kind in WRONG or (alarms and judgement.kind is Kind.EQUIVALENT)
    if target is not None and asked:
        cases = [each.case for each in references]
        ordered = [cases.pop(judgement.case), *cases]
        rules = ask(target, original.checkable.name, ordered)
    return Trial(
        mutant.fingerprint,
        mutant.method,
        mutant.operator,
        judgement.kind,
        judgement.what,
        rules,
        time.process_time() - started,
    )


def _judged(
    original: Original, mutant: Mutant, references: Sequence[Reference]
) -> tuple[Any, Judgement]:
    try:
        target = mutant.build(original)
    except Exception as error:  # The body of the mutated class may raise anything.
        return None, Judgement(Kind.OTHER_FORWARD, f"its definition raises {error!r}")
    return target, judge(target, references)
