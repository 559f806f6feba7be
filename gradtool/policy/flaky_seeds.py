"""Fold the results of ``--flake N``, the same checks with N seeds, to one result for each check.

A check has the worst verdict that it had with any seed. Its findings are those of all seeds, each
once, as it was with the first seed that has it, and its message begins with how many have it.
A needless setting, or a line that no case executes, must not depend on the numbers: it is
reported where every seed has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from msgspec import structs

from gradtool.policy.changes import Policy, RunSettings, add_notices
from gradtool.results.fingerprint import fingerprints
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Cost,
    Finding,
    FunctionResult,
    ModuleResult,
    Report,
    Verdict,
    worst,
)
from gradtool.verify.rules import RULES, Scope

T = TypeVar("T")

BySeed = Sequence[tuple[int, T]]
"""Results with the seed of each."""

_LISTED = 10
"""Seeds that a line names before it only counts the others."""

_WORDS = {
    Verdict.ERROR: "failed",
    Verdict.FAIL: "failed",
    Verdict.UNVERIFIED: "unverified",
}


def fold_seeds(run: RunSettings, count: int) -> Policy:
    """Fold a report that has each Function `count` times in a row, one for each seed.

    A Function that was not checked with a seed, because of an interrupt, is there without cases
    and checks.
    """

    def policy(report: Report) -> Report:
        differing: list[str] = []
        modules = tuple(_folded_modules(report.modules, run, count, differing))
        report = msgspec.structs.replace(report, modules=modules)
        if report.interrupted:
            return report
        same = [f"all verdicts are the same for {count} seeds"] if modules else []
        return add_notices(report, differing or same)

    return policy


def _folded_modules(
    modules: Iterable[ModuleResult], run: RunSettings, count: int, differing: list[str]
) -> Iterator[ModuleResult]:
    for module in modules:
        functions = []
        for start in range(0, len(module.functions), count):
            group = module.functions[start : start + count]
            node = f"{module.path}::{group[0].name}"
            first = run.units[node].settings.seed
            checked = [(first + by, f) for by, f in enumerate(group) if f.cases or f.checks]
            if checked:
                functions.append(_Fold(len(checked), differing).function(node, checked))
        if functions or not module.functions:
            yield msgspec.structs.replace(module, functions=tuple(functions))


class _Fold(msgspec.Struct, frozen=True):
    """Folds the results of one Function with `total` seeds."""

    total: int
    differing: list[str]
    """Collects a line for each check whose verdict is not the same with every seed."""

    def function(self, node: str, results: BySeed[FunctionResult]) -> FunctionResult:
        names = dict.fromkeys(case.name for _, f in results for case in f.cases)
        cases = [
            self.case(node, [(s, c) for s, f in results for c in f.cases if c.name == name])
            for name in names
        ]
        checks = self.checks(node, [(seed, each.checks) for seed, each in results])
        _, first = results[0]
        exploring = sum(each.exploring for _, each in results)
        return msgspec.structs.replace(
            first, cases=tuple(cases), checks=checks, exploring=exploring
        )

    def case(self, node: str, results: BySeed[CaseResult]) -> CaseResult:
        costs = [each.cost for _, each in results]
        _, first = results[0]
        owner = f"{node}[{first.name}]"
        fold = structs.replace(self, total=len(results))  # Those that an interrupt left time for.
        return msgspec.structs.replace(
            first,
            checks=fold.checks(owner, [(seed, each.checks) for seed, each in results]),
            cost=Cost(
                forward=sum(cost.forward for cost in costs),
                backward=sum(cost.backward for cost in costs),
            ),
            seconds=sum(each.seconds for _, each in results),
            durations=_added([each.durations for _, each in results]),
        )

    def checks(
        self, owner: str, results: BySeed[tuple[CheckResult, ...]]
    ) -> tuple[CheckResult, ...]:
        flat = [(seed, check) for seed, checks in results for check in checks]
        rules = dict.fromkeys(check.rule for _, check in flat)
        return tuple(
            self.check(owner, [(seed, check) for seed, check in flat if check.rule == rule])
            for rule in rules
        )

    def check(self, owner: str, results: BySeed[CheckResult]) -> CheckResult:
        _, first = results[0]
        findings = self.findings(results)
        if _is_of_all_cases(first.rule):
            verdict = Verdict.PASS if not findings else first.verdict
            return msgspec.structs.replace(first, verdict=verdict, findings=findings)
        verdict = worst([check.verdict for _, check in results])
        self.note(owner, first.rule, results)
        decisive = next(check for _, check in results if check.verdict is verdict)
        reason = decisive.reason
        if reason and verdict in _WORDS:
            reason = self.rated(reason, verdict, [s for s, c in results if c.verdict is verdict])
        return msgspec.structs.replace(decisive, reason=reason, findings=findings)

    def findings(self, results: BySeed[CheckResult]) -> tuple[Finding, ...]:
        """All findings, each once."""
        seeds: dict[str, list[int]] = {}
        first: dict[str, tuple[Finding, Verdict]] = {}
        for seed, check in results:
            for print_, finding in zip(fingerprints(check.findings), check.findings, strict=True):
                seeds.setdefault(print_, []).append(seed)
                first.setdefault(print_, (finding, check.verdict))
        return tuple(
            self.finding(*first[print_], at)
            for print_, at in seeds.items()
            if len(at) == self.total or not _is_of_all_cases(first[print_][0].rule)
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
            return "the only seed" if self.total == 1 else f"all {self.total} seeds"
        return f"{len(at)} of {self.total} seeds: {_listed(at)}"

    def note(self, owner: str, rule: str, results: BySeed[CheckResult]) -> None:
        """Note a difference. A skipped check, as for a broken premise, has no verdict to differ."""
        given = [(seed, c.verdict) for seed, c in results if c.verdict is not Verdict.SKIPPED]
        words = {_WORDS.get(verdict) for _, verdict in given}
        is_silent = len(results) < self.total  # So are rules of running that are not broken.
        if len(words | {None} if is_silent else words) > 1:
            counts = [
                f"{word} for {self.rate(at)}"
                for word in dict.fromkeys(_WORDS.values())
                if (at := [seed for seed, verdict in given if _WORDS.get(verdict) == word])
            ]
            self.differing.append(f"{rule} at {owner} {'; '.join(counts)}")


def _is_of_all_cases(code: str) -> bool:
    """Return True for a rule whose findings must be there with every seed."""
    return Scope.ALL_CASES in RULES[code].scopes


def _listed(seeds: Iterable[int]) -> str:
    named = [str(seed) for seed in seeds]
    more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
    return ", ".join(named[:_LISTED]) + more


def _added(durations: Iterable[dict[str, float]]) -> dict[str, float]:
    """The seconds of each rule with all seeds."""
    total: Counter[str] = Counter()
    for each in durations:
        total.update(each)
    return dict(total)
