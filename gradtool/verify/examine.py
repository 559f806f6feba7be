"""Checks the rules for one Function at one case: the entrance to this package."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import msgspec

from gradtool.results.report import Cost, Severity, Skip, SkipKind, Verdict
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import SourceLine
from gradtool.verify.rules import RULES, Answer, Flaw, Rule
from gradtool.verify.rules._rule import blocked, reported_by, skipped
from gradtool.verify.subject import Subject

__all__ = ["Flaw", "Outcome", "examine", "outcomes_for"]

_BROKEN = (Verdict.FAIL, Verdict.ERROR)
_FINE = (Verdict.PASS, Verdict.SKIPPED)


class Outcome(msgspec.Struct, frozen=True):
    """The answer of one rule about one case."""

    rule: Rule
    verdict: Verdict
    reason: str | None = None
    flaws: tuple[Flaw, ...] = ()
    skip: Skip | None = None


def examine(
    differentiable: Examinable,
    *,
    codes: Collection[str],
    seed: int = 0,
    atol: float | None = None,
    rtol: float | None = None,
    executed: set[SourceLine] | None = None,
    twin: Examinable | None = None,
    witness: bool = True,
) -> tuple[list[Outcome], Cost]:
    """Check the rules with these `codes`, and those that must hold for them to make sense.

    Args:
        differentiable: The Function at its case.
        codes: Rules to report on. Their premises are checked as well, but not reported.
        seed: Seed of everything random.
        atol: Overrides the default absolute tolerance.
        rtol: Overrides the default relative tolerance.
        executed: Collects the lines of the Function that run, except in checks of rules that are
            not `Rule.traced`.
        twin: The same Function at the same case on the CPU, where it runs on another device.
        witness: Differentiate the recorded forward too, beside the evaluations.

    Returns:
        One outcome for each of `codes` that has a check at a case, in the order of the codes,
        and the cost of all.

    Raises:
        KeyError: There is no rule with one of these codes.
    """
    subject = Subject(differentiable, seed=seed, atol=atol, rtol=rtol, twin=twin, witness=witness)
    outcomes, _ = outcomes_for(subject, codes=codes, executed=executed)
    return outcomes, subject.cost


def outcomes_for(
    subject: Subject,
    *,
    codes: Collection[str],
    executed: set[SourceLine] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[list[Outcome], dict[str, float]]:
    """Check the rules with these `codes` for a subject. See `examine`.

    Returns:
        The outcomes, and the seconds of each rule and premise that was checked, by code. A
        computation that several rules share counts for the first.
    """
    found = _Answers(subject, codes, executed, clock)
    rules = [RULES[code] for code in sorted(codes) if RULES[code].check]
    answers = {rule.code: found.answer(rule) for rule in rules}
    settled = _report_doubts_once(answers)
    outcomes = [
        Outcome(rule, answer.verdict, answer.reason, answer.flaws, answer.skip)
        for rule, answer in zip(rules, settled, strict=True)
    ]
    return outcomes, found.durations


class _Answers:
    """The answers about one subject; every rule is checked once, after its premises."""

    def __init__(
        self,
        subject: Subject,
        codes: Collection[str],
        executed: set[SourceLine] | None,
        clock: Callable[[], float],
    ) -> None:
        self._subject = subject
        self._codes = frozenset(codes)
        self._executed = executed
        self._clock = clock
        self.durations: dict[str, float] = {}
        """Seconds of each rule that was checked, by code."""
        self._answers: dict[str, Answer] = {}
        self._broken: dict[tuple[str, bool], str | None] = {}

    def answer(self, rule: Rule) -> Answer:
        if rule.code not in self._answers:
            self._answers[rule.code] = self._find(rule)
        return self._answers[rule.code]

    def _find(self, rule: Rule) -> Answer:
        broken = self._first_broken(rule.premises, rule)
        if broken:
            return blocked(broken)
        if rule.check is None:
            return skipped("not checked at a case")
        started = self._clock()
        answer = self._checked(rule, rule.check)
        self.durations[rule.code] = self._clock() - started
        if answer.verdict not in _FINE:
            broken = self._first_broken((*rule.premises, *rule.causes), rule, blamed=True)
        return blocked(broken) if broken else answer

    def _checked(self, rule: Rule, check: Callable[[Subject], Answer]) -> Answer:
        if self._executed is None or not rule.traced:
            return check(self._subject)
        with self._subject.function.traced(self._executed):
            return check(self._subject)

    def _first_broken(
        self, codes: Sequence[str], asked: Rule, *, blamed: bool = False
    ) -> str | None:
        """The first broken rule among these and the rules that they rest on.

        A premise that leaves the finding to the rule that is `asked` does not keep it from asking.
        Causes of premises that nobody selected are checked only if something is to be `blamed` on
        them.
        """
        return next((b for b in self._all_broken(codes, blamed) if b != asked.code), None)

    def _all_broken(self, codes: Iterable[str], blamed: bool) -> Iterator[str]:
        """The broken rule, where there is one, that each of these rests on."""
        for code in codes:
            if (code, blamed) not in self._broken:
                self._broken[code, blamed] = self._find_broken(RULES[code], blamed)
            broken = self._broken[code, blamed]
            if broken:
                yield broken

    def _find_broken(self, rule: Rule, blamed: bool) -> str | None:
        answer = self.answer(rule)
        if _is_broken(rule, answer):
            return rule.code
        if answer.skip and answer.skip.kind is SkipKind.BLOCKED:
            return answer.skip.blocked_by
        causes = (code for code in rule.causes if blamed or code in self._codes)
        return next(self._all_broken((*rule.premises, *causes), blamed), None)


def _is_broken(rule: Rule, answer: Answer) -> bool:
    """Return True if rules that rest on `rule` make no sense: a mere warning blocks nothing."""
    if answer.verdict is not Verdict.FAIL or not answer.flaws:
        return answer.verdict in _BROKEN
    return any((flaw.severity or rule.severity) is Severity.ERROR for flaw in answer.flaws)


def _report_doubts_once(answers: dict[str, Answer]) -> list[Answer]:
    """Make unverified rules point to the rule that collects doubts, if it reports one."""
    unverified = [code for code, each in answers.items() if each.verdict is Verdict.UNVERIFIED]
    collector = next((code for code in unverified if RULES[code].collects_doubts), None)
    return [
        reported_by(collector, answer.reason)
        if collector and code in unverified and code != collector
        else answer
        for code, answer in answers.items()
    ]
