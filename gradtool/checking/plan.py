"""One Function with its cases, ready to be checked in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from gradtool.cases.construction import construct
from gradtool.cases.sample_inputs import as_case
from gradtool.cases.sources import ResolvedCase, given_cases, resolve_cases
from gradtool.checking.declared_surrogates import require_surrogates
from gradtool.checking.unit import Unit
from gradtool.checking.validate import require_valid
from gradtool.collect.checkable import Checkable
from gradtool.collect.filters import parse_keyword
from gradtool.config.options import CheckOptions
from gradtool.config.schema import Defaults, FunctionConfig
from gradtool.config.settings import Settings, settings_for
from gradtool.errors import UsageError
from gradtool.findings.could_not_run import NoCase, no_case, not_checked, termination_result
from gradtool.results.report import CheckResult
from gradtool.sandbox.termination import Terminated, user_code
from gradtool.sandbox.timeout import time_limit
from gradtool.sandbox.user_errors import describe, user_method
from gradtool.spelling import known_names


class PlannedFunction(msgspec.Struct):
    """A unit, its Function, and the cases or the reason why there are none."""

    unit: Unit
    checkable: Checkable
    cases: list[ResolvedCase] = []
    problem: CheckResult | None = None
    deselected: int = 0
    """Cases that the keyword did not match."""


def plan_unit(unit: Unit, checkable: Checkable) -> PlannedFunction:
    """Find the cases of one Function; having none is a finding.

    Raises:
        UsageError: A case was asked for by name, and there is none of this name.
    """
    planned = _planned(unit, checkable, lambda made: resolve_cases(made, unit.settings, unit.cases))
    if unit.only and planned.problem is None:
        planned.cases = _chosen(unit, planned.cases)
    _deselect(planned)
    return planned


def plan_checkable(
    checkable: Checkable, cases: list[Any] | None, options: CheckOptions
) -> PlannedFunction:
    """The plan to check `checkable` alone, at `cases` when a test suite gives them.

    Raises:
        UsageError: The options are wrong.
    """
    require_valid(options)
    settings = settings_for(options, Defaults(), FunctionConfig())
    settings = msgspec.structs.replace(settings, replayable=cases is None, timeout=None)
    shown = checkable.location.path
    unit = Unit(path=str(checkable.file), shown=shown, function=checkable.name, settings=settings)
    if cases is None:
        return plan_unit(unit, checkable)
    return _planned(unit, checkable, lambda made: _given(made, settings, cases), as_given=True)


def _given(checkable: Checkable, settings: Settings, cases: list[Any]) -> list[ResolvedCase]:
    if not cases:
        raise NoCase("no cases were given")
    return given_cases(checkable, settings, [as_case(case, "a case is") for case in cases], "cases")


def _planned(
    unit: Unit,
    checkable: Checkable,
    cases: Callable[[Checkable], list[ResolvedCase]],
    *,
    as_given: bool = False,
) -> PlannedFunction:
    settings = unit.settings
    if checkable.unchecked is not None:
        problem = not_checked(unit.node, checkable.location, checkable.unchecked, settings)
        return PlannedFunction(unit, checkable, problem=problem)
    try:
        with user_code(settings, checkable.folder), time_limit(settings.timeout):
            made = construct(checkable, unit.module, settings, as_given=as_given)
            require_surrogates(made, settings)
            return PlannedFunction(unit, made, cases(made))
    except NoCase as error:
        problem = no_case(unit.node, checkable.location, error.at(unit.entry), settings)
    except Terminated as error:
        problem = termination_result(
            unit.node,
            error.termination,
            settings,
            checkable.location,
            " while gradtool looked for its arguments",
        )
    except Exception as error:
        method = user_method(error, checkable.folder)
        if method is None:
            raise  # A fault of gradtool's own.
        problem = _odd(unit, checkable, method, error)
    return PlannedFunction(unit, checkable, problem=problem)


def _odd(unit: Unit, checkable: Checkable, method: str, error: Exception) -> CheckResult:
    """GT002 for an exception of the user's code where none of it should run."""
    raised = describe(error, checkable.folder)
    message = f"{method} raised {raised.summary} while gradtool looked for its arguments"
    reason = NoCase(message, detail=raised.detail, location=raised.location)
    return no_case(unit.node, checkable.location, reason, unit.settings)


def _chosen(unit: Unit, cases: list[ResolvedCase]) -> list[ResolvedCase]:
    known = [case.name for case in cases]
    for name in sorted(set(unit.only).difference(known)):
        raise UsageError(f"{unit.node} has no case {name!r}{known_names(name, known)}")
    return [case for case in cases if case.name in unit.only]


def _deselect(planned: PlannedFunction) -> None:
    """Leave out what the keyword does not match."""
    unit = planned.unit
    if unit.keyword is None:
        return
    is_selected = parse_keyword(unit.keyword)
    found = len(planned.cases)
    planned.cases = [case for case in planned.cases if is_selected(f"{unit.node}[{case.name}]")]
    planned.deselected = found - len(planned.cases)
    if not is_selected(unit.node):
        planned.problem = None
