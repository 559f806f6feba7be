"""Report expired tolerances (GT512), and list those in force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime

import msgspec

from gradtool.checking.unit import Unit
from gradtool.findings.finding import make_finding
from gradtool.policy.changes import Policy, RunSettings, add_notices, change_functions
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Finding,
    FunctionResult,
    ModuleResult,
    Relaxation,
    Report,
    Verdict,
)
from gradtool.verify.rules import codes

_NAMED = 3
"""Cases that a line names before it only counts them."""


def report_expired_tolerances(run: RunSettings) -> Policy:
    """Add GT512 to the first case of each expired tolerance."""
    today = _today()

    def function(node: str, result: FunctionResult) -> FunctionResult:
        expired = dict(_expired(result, run.units[node], today))
        cases = tuple(_with_check(case, expired.get(case.name)) for case in result.cases)
        return msgspec.structs.replace(result, cases=cases)

    def policy(report: Report) -> Report:
        return change_functions(report, function)

    return policy


def _today() -> date:
    return datetime.now(UTC).date()


def _with_check(case: CaseResult, finding: Finding | None) -> CaseResult:
    if finding is None:
        return case
    check = CheckResult(rule=codes.EXPIRED, verdict=Verdict.FAIL, findings=(finding,))
    return msgspec.structs.replace(case, checks=(check, *case.checks))


def _expired(function: FunctionResult, unit: Unit, today: date) -> Iterator[tuple[str, Finding]]:
    """Pairs of the first case of an expired tolerance and its finding."""
    if codes.EXPIRED not in unit.settings.codes:
        return
    checked = [case for case in function.cases if case.checks]
    for tolerance in dict.fromkeys(case.relaxed for case in checked):
        if tolerance is not None and _is_expired(tolerance, today):
            names = [case.name for case in checked if case.relaxed == tolerance]
            yield names[0], _finding(function, unit, tolerance, names)


def _is_expired(tolerance: Relaxation, today: date) -> bool:
    return bool(tolerance.expires and date.fromisoformat(tolerance.expires) < today)


def _finding(
    function: FunctionResult, unit: Unit, tolerance: Relaxation, names: list[str]
) -> Finding:
    of = f"case {names[0]}" if len(names) == 1 else f"{len(names)} cases"
    why = f" ({tolerance.reason})" if tolerance.reason else ""
    return make_finding(
        codes.EXPIRED,
        f"{unit.node}[{names[0]}]",
        unit.settings,
        message=f"{_described(tolerance)} of {of} expired on {tolerance.expires}{why}",
        location=function.location,
        hint="fix the cause and remove the tolerance, or set a later date",
    )


def list_tolerances(report: Report) -> Report:
    """Add a notice for each tolerance that was given, with its cases."""
    return add_notices(report, _in_force(report.modules))


def _in_force(modules: Iterable[ModuleResult]) -> Iterator[str]:
    nodes_of: dict[Relaxation, dict[str, None]] = {}
    for module in modules:
        for function in module.functions:
            for case in function.cases:
                if case.relaxed is not None:
                    node = f"{module.path}::{function.name}[{case.name}]"
                    nodes_of.setdefault(case.relaxed, {})[node] = None
    for tolerance, nodes in nodes_of.items():
        until = tolerance.expires and f"until {tolerance.expires}"
        about = "; ".join(filter(None, (tolerance.reason, until)))
        listed = ", ".join(nodes) if len(nodes) <= _NAMED else f"{len(nodes)} cases"
        yield f"{_described(tolerance)} applies to {listed}{f' ({about})' if about else ''}"


def _described(tolerance: Relaxation) -> str:
    """``tolerance atol 0.001, rtol 0.1``."""
    values = {"atol": tolerance.atol, "rtol": tolerance.rtol}
    given = [f"{name} {value:g}" for name, value in values.items() if value is not None]
    return f"tolerance {', '.join(given)}"
