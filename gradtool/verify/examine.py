"""Asks the rules about one Function at one case: the door to this room."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from gradtool.results.report import COMES_FIRST, Cost, Severity, Verdict
from gradtool.verify.protocol.observation import Examinable, SourceLine
from gradtool.verify.rules import RULES, Answer, Flaw, Rule, skipped
from gradtool.verify.subject import Subject

__all__ = ["Flaw", "Outcome", "examine"]

_BROKEN = (Verdict.FAIL, Verdict.ERROR)
_FINE = (Verdict.PASS, Verdict.SKIPPED)
_DOUBT = "GT603"
_EVALUATES_A_LOT = frozenset({"GT101", "GT106", "GT201", "GT202", "GT203", "GT204", "GT506"})
_CALLS_OTHERS = frozenset({"GT111"})
"""Calls with other numbers than the case's, of whose gradients nothing is verified."""

_NOT_TRACED = _EVALUATES_A_LOT | _CALLS_OTHERS


@dataclass(frozen=True)
class Outcome:
    """What one rule says of one case."""

    rule: Rule
    verdict: Verdict
    reason: str | None = None
    flaws: tuple[Flaw, ...] = ()


def examine(
    differentiable: Examinable,
    *,
    codes: Collection[str],
    seed: int = 0,
    atol: float | None = None,
    rtol: float | None = None,
    executed: set[SourceLine] | None = None,
    twin: Examinable | None = None,
) -> tuple[list[Outcome], Cost]:
    """Ask the rules with these `codes`, and those that must hold for them to make sense.

    Args:
        differentiable: The Function at its case.
        codes: Rules to report on. Their premises are asked as well, and not reported.
        seed: Of everything random.
        atol: Overrides the default absolute tolerance.
        rtol: Overrides the default relative tolerance.
        executed: Collects the lines of the Function that are executed. Left out are those that
            only the numeric derivatives execute, because tracing them would take too long, and
            those of calls of which nothing is verified.
        twin: The same Function at the same case on the CPU, where it runs on another device.

    Returns:
        One outcome for each of `codes` that can be asked of a case, in the order of the
        codes, and what they all cost.

    Raises:
        KeyError: There is no rule with one of these codes.
    """
    subject = Subject(differentiable, seed=seed, atol=atol, rtol=rtol, twin=twin)
    inquiry = _Inquiry(subject, executed)
    asked = [RULES[code] for code in sorted(codes) if RULES[code].check]
    answers = {rule.code: inquiry.answer(rule) for rule in asked}
    told_once = _tell_doubts_once(answers)
    outcomes = [
        Outcome(rule, answer.verdict, answer.reason, answer.flaws)
        for rule, answer in zip(asked, told_once, strict=True)
    ]
    return outcomes, subject.cost


class _Inquiry:
    """The answers of one subject; every rule is asked once, after its premises."""

    def __init__(self, subject: Subject, executed: set[SourceLine] | None) -> None:
        self._subject = subject
        self._executed = executed
        self._answers: dict[str, Answer] = {}
        self._broken: dict[str, str | None] = {}

    def answer(self, rule: Rule) -> Answer:
        if rule.code not in self._answers:
            self._answers[rule.code] = self._ask(rule)
        return self._answers[rule.code]

    def _ask(self, rule: Rule) -> Answer:
        broken = self._first_broken(rule.premises)
        if broken:
            return skipped(f"{broken}{COMES_FIRST}")
        if rule.check is None:
            return skipped("not asked of a case")
        answer = self._checked(rule, rule.check)
        if answer.verdict not in _FINE:
            broken = self._first_broken(rule.causes)
        return skipped(f"{broken}{COMES_FIRST}") if broken else answer

    def _checked(self, rule: Rule, check: Callable[[Subject], Answer]) -> Answer:
        if self._executed is None or rule.code in _NOT_TRACED:
            return check(self._subject)
        with self._subject.function.traced() as lines:
            answer = check(self._subject)
        self._executed |= lines
        return answer

    def _first_broken(self, codes: Sequence[str]) -> str | None:
        """The first rule that failed among these, and what they rest on."""
        for code in codes:
            if code not in self._broken:
                self._broken[code] = self._find_broken(RULES[code])
            if self._broken[code]:
                return self._broken[code]
        return None

    def _find_broken(self, rule: Rule) -> str | None:
        if _is_broken(rule, self.answer(rule)):
            return rule.code
        return self._first_broken((*rule.premises, *rule.causes))


def _is_broken(rule: Rule, answer: Answer) -> bool:
    """Whether nothing that rests on `rule` makes sense: what is only bad manners hides nothing."""
    if answer.verdict is not Verdict.FAIL or not answer.flaws:
        return answer.verdict in _BROKEN
    return any((flaw.severity or rule.severity) is Severity.ERROR for flaw in answer.flaws)


def _tell_doubts_once(answers: dict[str, Answer]) -> list[Answer]:
    """Where GT603 reports what could not be verified, the rules in doubt only point to it."""
    doubt = answers.get(_DOUBT)
    if not doubt or doubt.verdict is not Verdict.UNVERIFIED:
        return list(answers.values())
    return [
        skipped(f"{answer.reason}: see {_DOUBT}")
        if answer.verdict is Verdict.UNVERIFIED and code != _DOUBT
        else answer
        for code, answer in answers.items()
    ]
