"""Which rules have a test, and what the result of a run says of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradtool.checking.unit import Unit
from gradtool.report.verdicts import STOPPING
from gradtool.results.report import CheckResult, FunctionResult, Verdict
from gradtool.verify.rules import codes

_AT_A_CASE = (
    codes.FORWARD_RAISED,
    codes.BACKWARD_RAISED,
    codes.CRASHED,
    codes.TIMED_OUT,
    codes.OUT_OF_MEMORY,
    codes.ENDED,
)
"""What can happen to any case, whatever rules are selected."""

_AS_A_WHOLE = (codes.NEEDLESS, codes.EXPIRED, codes.NOT_EXECUTED)
"""Rules that need all cases of a Function; they are silent where they found nothing."""


def asked_of_case(unit: Unit) -> Sequence[str]:
    """The rules that are asked at each case of a Function, in the order of their codes."""
    ignored = {code for code in unit.settings.ignored_for_reason if code != codes.NO_CASE}
    asked = {*_AT_A_CASE, *unit.settings.codes, *ignored}
    return sorted(asked - {codes.NOT_IMPORTED, codes.NO_CASE, codes.EXPIRED, codes.NOT_EXECUTED})


def asked_of_function(unit: Unit, found: FunctionResult) -> Sequence[str]:
    """The rules that are asked of a Function as a whole, and those it broke before any case."""
    whole = {code for code in _AS_A_WHOLE if code in unit.settings.codes and found.cases}
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
    stopped = [c for c in checks if c.rule in _AT_A_CASE and c.verdict in STOPPING]
    if rule in _AT_A_CASE or rule in _AS_A_WHOLE:
        return CheckResult(rule=rule, verdict=Verdict.PASS)
    reason = f"{stopped[0].rule} comes first" if stopped else "not asked"
    return CheckResult(rule=rule, verdict=Verdict.SKIPPED, reason=reason)
