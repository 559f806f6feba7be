"""Which rules have a test, and what the result of a run says of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradtool.checking.unit import Unit
from gradtool.report.verdicts import STOPPING
from gradtool.results.report import CheckResult, Family, FunctionResult, Skip, SkipKind, Verdict
from gradtool.verify.rules import RULES, Scope, codes


def asked_of_case(unit: Unit) -> Sequence[str]:
    """The rules that are asked at each case of a Function, in the order of their codes."""
    running = codes.matching([Family.RUNNING.value])
    asked = {*running, *unit.settings.codes, *unit.settings.ignored_for_reason}
    return sorted(code for code in asked if _is_of(Scope.CASE, code))


def asked_of_function(unit: Unit, found: FunctionResult) -> Sequence[str]:
    """The rules that are asked of a Function as a whole, and those it broke before any case."""
    whole = {code for code in unit.settings.codes if found.cases and _is_of(Scope.ALL_CASES, code)}
    return sorted(whole | {check.rule for check in found.checks})


def answer(own: Iterable[CheckResult], outer: Iterable[CheckResult], rule: str) -> CheckResult:
    """What checks say of `rule`.

    Args:
        own: The checks of what the rule is asked of.
        outer: Those of the Function around a case, which tell why the case has none.
        rule: The code of the rule.
    """
    checks = list(own)
    for check in checks:
        if check.rule == rule:
            return check
    if checks:
        return _unsaid(rule, checks)
    # Nothing is known of the case. What stopped it is told of the Function as a whole, where
    # no test may have been waiting for it.
    return next((c for c in outer if c.verdict in STOPPING), _unsaid(rule, checks))


def _unsaid(rule: str, checks: Sequence[CheckResult]) -> CheckResult:
    """The answer to a rule that the checks do not speak of."""
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
