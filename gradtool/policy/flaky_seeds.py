"""``--flake N``: the same checks with N seeds, and one answer made of all of theirs.

A check has the worst verdict that it had with any seed. Its findings are those of all seeds, each
once, as it was with the first seed that has it, and its message begins with how many have it.
What is only of use when it holds whatever the numbers are, a needless setting or a line that
no case executes, is told where every seed has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec

from gradtool.checking.unit import Done, Unit
from gradtool.errors import UsageError
from gradtool.results.fingerprint import fingerprints
from gradtool.results.report import CaseResult, CheckResult, Cost, Finding, Verdict, worst
from gradtool.verify.rules import RULES, Scope

T = TypeVar("T")

Answers = Sequence[tuple[int, T]]
"""What was answered with each seed."""

_LISTED = 10
"""Seeds that a line names before it only counts the others."""

_LARGEST = 2**64 - 1
"""The largest seed that there is."""

_WORDS = {
    Verdict.ERROR: "failed",
    Verdict.FAIL: "failed",
    Verdict.UNVERIFIED: "unverified",
}


def with_seeds(units: Sequence[Unit], count: int) -> list[Unit]:
    """All units with their seed, then all with the next, `count` times.

    Raises:
        UsageError: The last seed is no machine integer.
    """
    first = max((unit.settings.seed for unit in units), default=0)
    if first > _LARGEST - (count - 1):
        raise UsageError(f"--flake {count} goes beyond the largest seed when it begins at {first}")
    return [_shifted(unit, by) for by in range(count) for unit in units]


def _shifted(unit: Unit, by: int) -> Unit:
    settings = msgspec.structs.replace(unit.settings, seed=unit.settings.seed + by)
    return msgspec.structs.replace(unit, settings=settings) if by else unit


@dataclass
class Folded:
    """One answer for each unit, and what differs between seeds."""

    done: list[Done | None] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    """A line for each check whose verdict is not the same with every seed."""


def folded(units: Sequence[Unit], done: Sequence[Done | None], count: int) -> Folded:
    """The answers to ``with_seeds(units, count)``, as far as they go, made one for each unit."""
    found = Folded()
    for place, unit in enumerate(units):
        seeds = range(unit.settings.seed, unit.settings.seed + count)
        given = zip(seeds, done[place :: len(units)], strict=False)
        answers = [(seed, each) for seed, each in given if each is not None and _says(each)]
        if not answers:
            found.done.append(None)
            continue
        fold = _Fold(len(answers), found.differing)
        found.done.append(fold.unit(unit.node, answers))
    return found


@dataclass(frozen=True)
class _Fold:
    """Folds the answers of one unit with `total` seeds."""

    total: int
    differing: list[str]

    def unit(self, node: str, answers: Answers[Done]) -> Done:
        functions = [(seed, each.function) for seed, each in answers]
        names = dict.fromkeys(case.name for _, f in functions for case in f.cases)
        cases = [
            self.case(node, [(s, c) for s, f in functions for c in f.cases if c.name == name])
            for name in names
        ]
        checks = self.checks(node, [(seed, each.checks) for seed, each in functions])
        _, first = answers[0]
        function = msgspec.structs.replace(first.function, cases=tuple(cases), checks=checks)
        unwanted = all(each.unwanted for _, each in answers)
        return msgspec.structs.replace(first, function=function, unwanted=unwanted)

    def case(self, node: str, answers: Answers[CaseResult]) -> CaseResult:
        costs = [each.cost for _, each in answers]
        _, first = answers[0]
        owner = f"{node}[{first.name}]"
        fold = replace(self, total=len(answers))  # Those that an interrupt left time for.
        return msgspec.structs.replace(
            first,
            checks=fold.checks(owner, [(seed, each.checks) for seed, each in answers]),
            cost=Cost(
                forward=sum(cost.forward for cost in costs),
                backward=sum(cost.backward for cost in costs),
            ),
            seconds=sum(each.seconds for _, each in answers),
        )

    def checks(
        self, owner: str, answers: Answers[tuple[CheckResult, ...]]
    ) -> tuple[CheckResult, ...]:
        flat = [(seed, check) for seed, checks in answers for check in checks]
        rules = dict.fromkeys(check.rule for _, check in flat)
        return tuple(
            self.check(owner, [(seed, check) for seed, check in flat if check.rule == rule])
            for rule in rules
        )

    def check(self, owner: str, answers: Answers[CheckResult]) -> CheckResult:
        _, first = answers[0]
        findings = self.findings(answers)
        if _is_of_all_cases(first.rule):
            verdict = Verdict.PASS if not findings else first.verdict
            return msgspec.structs.replace(first, verdict=verdict, findings=findings)
        verdict = worst([check.verdict for _, check in answers])
        self.tell(owner, first.rule, answers)
        decisive = next(check for _, check in answers if check.verdict is verdict)
        reason = decisive.reason
        if reason and verdict in _WORDS:
            reason = self.rated(reason, verdict, [s for s, c in answers if c.verdict is verdict])
        return msgspec.structs.replace(decisive, reason=reason, findings=findings)

    def findings(self, answers: Answers[CheckResult]) -> tuple[Finding, ...]:
        """All findings, those that are one and the same told once."""
        seeds: dict[str, list[int]] = {}
        told: dict[str, tuple[Finding, Verdict]] = {}
        for seed, check in answers:
            for print_, finding in zip(fingerprints(check.findings), check.findings, strict=True):
                seeds.setdefault(print_, []).append(seed)
                told.setdefault(print_, (finding, check.verdict))
        return tuple(
            self.finding(*told[print_], at)
            for print_, at in seeds.items()
            if len(at) == self.total or not _is_of_all_cases(told[print_][0].rule)
        )

    def finding(self, finding: Finding, verdict: Verdict, at: Sequence[int]) -> Finding:
        if _is_of_all_cases(finding.rule):
            return finding
        message = self.rated(finding.message, verdict, at)
        return msgspec.structs.replace(finding, message=message, seeds=tuple(at))

    def rated(self, text: str, verdict: Verdict, at: Sequence[int]) -> str:
        """``failed for 3 of 20 seeds: 4, 7, 19; at seed 4: …``."""
        return f"{_WORDS.get(verdict, 'noted')} for {self.rate(at)}; at seed {at[0]}: {text}"

    def rate(self, at: Sequence[int]) -> str:
        if len(at) == self.total:
            return f"all {self.total} seeds"
        return f"{len(at)} of {self.total} seeds: {_listed(at)}"

    def tell(self, owner: str, rule: str, answers: Answers[CheckResult]) -> None:
        """Note what differs. A check that was skipped, as for its premise, says nothing."""
        asked = [(seed, c.verdict) for seed, c in answers if c.verdict is not Verdict.SKIPPED]
        words = {_WORDS.get(verdict) for _, verdict in asked}
        is_silent = len(answers) < self.total  # So are rules of running that are not broken.
        if len(words | {None} if is_silent else words) > 1:
            told = [
                f"{word} for {self.rate(at)}"
                for word in dict.fromkeys(_WORDS.values())
                if (at := [seed for seed, verdict in asked if _WORDS.get(verdict) == word])
            ]
            self.differing.append(f"{rule} at {owner} {', '.join(told)}")


def _is_of_all_cases(code: str) -> bool:
    """Return True for a rule whose findings must be there with every seed."""
    return Scope.ALL_CASES in RULES[code].scopes


def _says(done: Done) -> bool:
    """Whether there is an answer; an interrupt may have left time for none."""
    return bool(done.function.cases or done.function.checks or done.unwanted)


def _listed(seeds: Iterable[int]) -> str:
    named = [str(seed) for seed in seeds]
    more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
    return ", ".join(named[:_LISTED]) + more
