"""Checks one Function at each of its cases."""

from __future__ import annotations

import time

from gradtool.gate import codes
from gradtool.gate.adapters.bundled import BundledDifferentiable
from gradtool.gate.cases import ResolvedCase
from gradtool.gate.deadline import TimedOut, deadline
from gradtool.gate.findings import check_result, stopped
from gradtool.gate.plan import PlannedFunction, Unit
from gradtool.gate.seeding import global_generators
from gradtool.gate.settings import Settings
from gradtool.gate.subject import Subject
from gradtool.results import CaseResult, CheckResult, Cost, FunctionResult, Verdict
from gradtool.verify.examine import Outcome, examine
from gradtool.verify.rules import RULES

_OF_THE_GATE = frozenset({codes.NOT_IMPORTED, codes.NO_CASE})
"""Rules that are answered before there is a case."""

_ALWAYS = sorted(code for code in RULES if code.startswith(codes.RUNNING))
"""Rules that are asked whatever is selected."""


def listed_case(case: ResolvedCase) -> CaseResult:
    """A case with no check made."""
    return CaseResult(name=case.name, arguments=case.arguments, source=case.source)


def function_result(planned: PlannedFunction, cases: list[CaseResult]) -> FunctionResult:
    """A Function with what came of its cases."""
    return FunctionResult(
        name=planned.subject.name,
        location=planned.subject.location,
        cases=tuple(cases),
        checks=(planned.problem,) if planned.problem else (),
        declared=_declared(planned.subject),
    )


def check_case(
    unit: Unit, subject: Subject, case: ResolvedCase, limit: float | None = None
) -> CaseResult:
    """Ask every rule of one case, within `limit` seconds.

    An exception of gradtool itself passes; what the user's code raises is a finding.
    """
    started = time.perf_counter()
    with global_generators(case.seed):
        checks, cost = _ask(unit, subject, case, limit)
    return CaseResult(
        name=case.name,
        arguments=case.arguments,
        source=case.source,
        checks=(*checks, *_ignored(unit.settings, checks)),
        cost=cost,
        seconds=time.perf_counter() - started,
    )


def _ask(
    unit: Unit, subject: Subject, case: ResolvedCase, limit: float | None
) -> tuple[list[CheckResult], Cost]:
    node, settings = f"{unit.node}[{case.name}]", unit.settings
    if limit is not None and limit <= 0:
        return [_out_of_time()], Cost()
    try:
        with deadline(limit):
            outcomes, cost = _examine(subject, case, settings)
    except SystemExit as error:
        message = f"the Function ended the process: SystemExit: {error.code}"
        hint = "raise an exception in place of calling sys.exit"
        return [stopped(node, subject, settings, message, hint)], Cost()
    except TimedOut:
        message = f"the Function took longer than {settings.timeout:g} s and was stopped"
        hint = "mend an endless loop, choose smaller arguments, or raise --timeout"
        return [stopped(node, subject, settings, message, hint)], Cost()
    return [check_result(node, subject, outcome, settings) for outcome in outcomes], cost


def _out_of_time() -> CheckResult:
    reason = "an earlier case used up the time of the Function"
    return CheckResult(rule=codes.FORWARD_RAISED, verdict=Verdict.SKIPPED, reason=reason)


def _examine(
    subject: Subject, case: ResolvedCase, settings: Settings
) -> tuple[list[Outcome], Cost]:
    differentiable = BundledDifferentiable(
        subject.target, case.args, case.kwargs, name=subject.name
    )
    return examine(
        differentiable,
        codes=sorted({*settings.codes, *_ALWAYS} - _OF_THE_GATE),
        seed=case.seed,
        atol=case.atol,
        rtol=case.rtol,
    )


def _ignored(settings: Settings, checks: list[CheckResult]) -> list[CheckResult]:
    """The rules that were not asked because the configuration says why."""
    answered = {check.rule for check in checks} | _OF_THE_GATE
    return [
        CheckResult(rule=code, verdict=Verdict.SKIPPED, reason=reason)
        for code, reason in sorted(settings.ignored.items())
        if code not in answered
    ]


def _declared(subject: Subject) -> tuple[str, ...]:
    methods = [getattr(subject.target, name, None) for name in ("backward", "vjp")]
    once = any(getattr(method, "_once_differentiable", False) for method in methods)
    return ("once_differentiable",) if once else ()
