"""Answers to the tests: the rules that have one, and the verdict of a run on each.

A run of a Function answers all rules at all its cases, so it is made once, when the first of
its tests is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gradtool.checking.unit import Unit
from gradtool.report.verdicts import STOPPING
from gradtool.results.report import (
    CheckResult,
    Family,
    FunctionResult,
    Location,
    Skip,
    SkipKind,
    Verdict,
)
from gradtool.run.session import Session
from gradtool.verify.rules import RULES, Scope, codes

EXPLORED = "explored"
"""The test of a Function beside its cases, at which it may break any rule of theirs."""


def rules_of_case(unit: Unit) -> Sequence[str]:
    """The rules that have a test at each case of a Function, in the order of their codes."""
    running = codes.matching([Family.RUNNING.value])
    rules = {*running, *unit.settings.codes, *unit.settings.ignored_for_reason}
    return sorted(code for code in rules if _is_of(Scope.CASE, code))


def rules_of_function(unit: Unit, found: FunctionResult) -> Sequence[str]:
    """The rules that have a test of the Function itself, and those it broke before any case."""
    selected = {
        code for code in unit.settings.codes if found.cases and _is_of(Scope.ALL_CASES, code)
    }
    explored = [EXPLORED] if found.cases and unit.settings.explore != "off" else []
    return [*sorted(selected | {check.rule for check in found.checks}), *explored]


def answer(own: Iterable[CheckResult], outer: Iterable[CheckResult], rule: str) -> CheckResult:
    """The check of `rule` among those of a run, or one made up from them.

    Args:
        own: The checks of the case or Function that the test is about.
        outer: Those of the Function around a case, which explain why the case has none.
        rule: The code of the rule.
    """
    checks = list(own)
    for check in checks:
        if check.rule == rule:
            return check
    if checks:
        return _implied(rule, checks)
    # The case was never reached. What stopped it is a check of the Function, for which there may
    # be no test.
    return next((c for c in outer if c.verdict in STOPPING), _implied(rule, checks))


def _implied(rule: str, checks: Sequence[CheckResult]) -> CheckResult:
    """The answer to a rule for which there is no check."""
    if _is_silent(rule):
        return CheckResult(rule=rule, verdict=Verdict.PASS)
    stopped = (c.rule for c in checks if c.rule in Family.RUNNING and c.verdict in STOPPING)
    broken = next(stopped, None)
    kind = SkipKind.BLOCKED if broken else SkipKind.NOT_ASKED
    return CheckResult(rule=rule, verdict=Verdict.SKIPPED, skip=Skip(kind=kind, blocked_by=broken))


def _is_silent(rule: str) -> bool:
    """Return True for a rule that has no check where it holds."""
    if rule in Family.RUNNING:
        return _is_of(Scope.CASE, rule)
    return _is_of(Scope.ALL_CASES, rule)


def _is_of(scope: Scope, code: str) -> bool:
    return scope in RULES[code].scopes


_FINE = CheckResult(rule=EXPLORED, verdict=Verdict.PASS)


def _is_explored(check: CheckResult) -> bool:
    """Return True for a rule of cases that a Function broke beside them."""
    return _is_of(Scope.CASE, check.rule) and not _is_of(Scope.ALL_CASES, check.rule)


class Answered:
    """Checks of a module, known since it was collected."""

    def __init__(self, checks: tuple[CheckResult, ...], location: Location) -> None:
        self.location = location
        self._checks = checks

    def want(self, case: str | None) -> None:
        """Do nothing: the answer is known."""

    def answer(self, case: str | None, rule: str) -> CheckResult:  # noqa: ARG002 - there is none
        """The check of one rule."""
        return answer(self._checks, (), rule)


class FunctionRun:
    """The run of one Function, made for the first of its tests."""

    def __init__(self, session: Session, unit: Unit, found: FunctionResult) -> None:
        self.location = found.location
        self._session = session
        self._unit = unit
        self._cases = {case.name for case in found.cases}
        self._wanted: set[str] = set()
        self._result: FunctionResult | None = None

    def want(self, case: str | None) -> None:
        """Note that a test of `case`, or of the Function itself, will be run."""
        self._wanted |= self._cases if case is None else {case}

    def answer(self, case: str | None, rule: str) -> CheckResult:
        """The check of one rule at a case, or of the Function itself."""
        result = self._checked()
        if rule == EXPLORED:
            return next(filter(_is_explored, result.checks), _FINE)
        if case is None:
            return answer(result.checks, (), rule)
        own = (each.checks for each in result.cases if each.name == case)
        return answer(next(own, ()), result.checks, rule)

    def _checked(self) -> FunctionResult:
        if self._result is None:
            only = () if self._wanted == self._cases else tuple(sorted(self._wanted))
            self._result = self._session.check(msgspec.structs.replace(self._unit, only=only))
        return self._result
