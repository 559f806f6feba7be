"""Checks one Function at each of its cases."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.common.random_state import global_generators
from gradtool.cases.arguments import on_host
from gradtool.cases.sources import ResolvedCase
from gradtool.checking.declared_surrogates import intended
from gradtool.checking.function_checks import Checked, configured_ignores
from gradtool.checking.plan import PlannedFunction
from gradtool.checking.unit import Unit
from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.findings.check_results import check_result, raised_late
from gradtool.findings.could_not_run import out_of_time, termination_result
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Family,
    FunctionResult,
    Verdict,
)
from gradtool.sandbox.termination import Terminated, user_code
from gradtool.sandbox.timeout import time_limit
from gradtool.sandbox.user_errors import user_method
from gradtool.verify.examine import Outcome, outcomes_for
from gradtool.verify.protocol.observation import SourceLine
from gradtool.verify.rules import RULES, codes
from gradtool.verify.subject import Subject


def listed_case(case: ResolvedCase) -> CaseResult:
    """A case before any check."""
    return CaseResult(
        name=case.name,
        arguments=case.arguments,
        source=case.source,
        inferred_from=case.inferred_from,
        is_guess=case.is_guess,
        relaxed=case.relaxed,
    )


def listed_function(planned: PlannedFunction) -> FunctionResult:
    """A Function with its cases, none of them checked, or why it has none."""
    return FunctionResult(
        name=planned.checkable.name,
        location=planned.checkable.location,
        cases=tuple(listed_case(case) for case in planned.cases),
        checks=(planned.problem,) if planned.problem else (),
        declared=_declared(planned.checkable),
    )


def check_case(
    unit: Unit, checkable: Checkable, case: ResolvedCase, limit: float | None = None
) -> Checked:
    """Check every rule at one case, within `limit` seconds.

    An exception of gradtool itself passes; what the user's code raises is a finding.
    """
    started = time.perf_counter()
    with global_generators(case.seed):
        checked = _ask(unit, checkable, case, limit)
    checks = checked.result.checks
    result = msgspec.structs.replace(
        checked.result,
        checks=(*checks, *_ignored(unit.settings, checks)),
        seconds=time.perf_counter() - started,
    )
    return replace(checked, result=result)


def _ask(unit: Unit, checkable: Checkable, case: ResolvedCase, limit: float | None) -> Checked:
    node, settings = f"{unit.node}[{case.name}]", unit.settings
    if limit is not None and limit <= 0:
        return _incomplete(case, out_of_time())
    try:
        return _examined(node, checkable, case, settings, limit)
    except Terminated as error:
        why = termination_result(node, error.termination, settings, checkable.location)
    except Exception as error:
        method = user_method(error, checkable.folder)
        if method is None:
            raise  # A fault of gradtool's own.
        why = raised_late(node, method, error, checkable, settings)
    return _incomplete(case, why)


def _incomplete(case: ResolvedCase, why: CheckResult) -> Checked:
    result = msgspec.structs.replace(listed_case(case), checks=(why,))
    return Checked(result, is_complete=False)


def _examined(
    node: str, checkable: Checkable, case: ResolvedCase, settings: Settings, limit: float | None
) -> Checked:
    differentiable = FunctionDifferentiable(
        checkable.obj, case.args, case.kwargs, name=checkable.name
    )
    reported, executed = _reported(case, settings), set[SourceLine]()
    codes_to_check = reported | _only_asked(settings)
    with user_code(settings, checkable.folder), time_limit(limit):
        subject = Subject(
            differentiable,
            seed=case.seed,
            atol=case.atol,
            rtol=case.rtol,
            twin=None if settings.device == "cpu" else _on_host(checkable, case),
            witness=settings.witness,
            declared=settings.surrogate,
            intended=intended(checkable, case, settings),
        )
        outcomes, durations = outcomes_for(
            subject,
            codes=sorted(codes_to_check),
            executed=executed if codes.NOT_EXECUTED in settings.codes else None,
        )
        basis, compared = subject.basis, subject.compared
    checks = {
        each.rule.code: check_result(node, checkable, each, settings)
        for each in outcomes
        if each.rule.code in reported
    }
    loose = checks.pop(codes.NEEDLESS, None) if not _is_own(case, settings) else None
    result = msgspec.structs.replace(
        listed_case(case),
        checks=tuple(checks.values()),
        basis=basis,
        compared=compared,
        cost=subject.cost,
        durations=durations if settings.timed else {},
    )
    return Checked(
        result,
        silenced=frozenset(each.rule.code for each in outcomes if _is_in_doubt(each)),
        loose=loose,
        lines=differentiable.lines,
        executed=frozenset(executed),
    )


def _on_host(checkable: Checkable, case: ResolvedCase) -> FunctionDifferentiable:
    """The same case with all tensors on the CPU."""
    args = [on_host(value) for value in case.args]
    kwargs = {name: on_host(value) for name, value in case.kwargs.items()}
    return FunctionDifferentiable(checkable.obj, args, kwargs, name=checkable.name)


def _reported(case: ResolvedCase, settings: Settings) -> set[str]:
    reported = {*settings.codes, *_running()} - _found_by_the_gate()
    if not settings.tolerates and not _is_own(case, settings):
        reported.discard(codes.NEEDLESS)
    return reported


def _only_asked(settings: Settings) -> set[str]:
    """Rules that are checked because rules about a Function as a whole need them."""
    codes_to_check = (
        set(configured_ignores(settings)) if codes.NEEDLESS in settings.codes else set()
    )
    if codes.NOT_EXECUTED in settings.codes and codes.WRONG_GRADIENT not in settings.codes:
        codes_to_check |= RULES.keys() - settings.ignored.keys()
    return codes_to_check - _found_by_the_gate()


@cache
def _found_by_the_gate() -> frozenset[str]:
    """Rules that report code of a Function that could not run at all."""
    return frozenset(code for code in _running() if RULES[code].check is None)


@cache
def _running() -> frozenset[str]:
    """Rules that are always checked, whatever is selected."""
    return codes.matching([Family.RUNNING.value])


def _is_own(case: ResolvedCase, settings: Settings) -> bool:
    """Return True if the case has a tolerance of its own."""
    return (case.atol, case.rtol) != settings.tolerances(None, None)


def _is_in_doubt(outcome: Outcome) -> bool:
    return outcome.verdict is not Verdict.PASS or bool(outcome.flaws)


def _ignored(settings: Settings, checks: Sequence[CheckResult]) -> list[CheckResult]:
    """The rules that the configuration ignores, with its reasons."""
    answered = {check.rule for check in checks} | _found_by_the_gate()
    return [
        CheckResult(rule=c, verdict=Verdict.SKIPPED, skip=skip, proves=RULES[c].proves)
        for c, skip in sorted(settings.ignored.items())
        if c not in answered
    ]


def _declared(checkable: Checkable) -> tuple[str, ...]:
    methods = [getattr(checkable.obj, name, None) for name in ("backward", "vjp")]
    once = any(getattr(method, "_once_differentiable", False) for method in methods)
    return ("once_differentiable",) if once else ()
