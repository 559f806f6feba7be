"""Profile of one Function at each of its cases, taken in this process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from msgspec.structs import replace

from gradtool.adapters.common.random_state import global_generators
from gradtool.cases.sources import ResolvedCase
from gradtool.checking.plan import PlannedFunction
from gradtool.checking.unit import Unit
from gradtool.checking.worker_session import WorkerSession
from gradtool.collect.checkable import Checkable
from gradtool.collect.loader import LoadError
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import import_terminated, not_imported
from gradtool.measure.sampling import sample_in_turn
from gradtool.profile.phases import (
    Arguments,
    NoPhaseError,
    Runnable,
    backward,
    double_backward,
    forward,
)
from gradtool.profile.sampling import SampledPhase
from gradtool.results.profile import CaseProfile, FunctionProfile, Phase, PhaseName
from gradtool.results.report import CheckResult
from gradtool.sandbox.termination import Terminated, user_code
from gradtool.sandbox.timeout import time_limit
from gradtool.sandbox.user_errors import describe, user_method

_MAKERS: dict[PhaseName, Callable[[Arguments], Runnable]] = {
    "forward": forward,
    "backward": backward,
    "double backward": double_backward,
}


def profile_unit(
    session: WorkerSession, unit: Unit, budget: float, progress: Callable[[CaseProfile], None]
) -> FunctionProfile:
    """Profile one Function, reporting each case to `progress` as it is done.

    Raises:
        UsageError: It has no case of a name that was selected.
    """
    try:
        with session.opened(unit) as planned:
            return _profiled(planned, budget, progress)
    except LoadError as error:
        problem = not_imported(unit.node, error, unit.settings)
    except Terminated as error:
        problem = import_terminated(unit.node, error.termination, unit.settings)
    return _failed(unit, problem)


def _failed(unit: Unit, problem: CheckResult) -> FunctionProfile:
    return FunctionProfile.failed(unit.node, unit.settings.apply_ignores(problem), unit.line)


def _profiled(
    planned: PlannedFunction, budget: float, progress: Callable[[CaseProfile], None]
) -> FunctionProfile:
    unit, line = planned.unit, planned.checkable.location.line
    if planned.problem is not None:
        return _failed(unit, planned.problem)
    cases = []
    for case in planned.cases:
        cases.append(_case(planned.checkable, case, unit.settings, budget))
        progress(cases[-1])
    return FunctionProfile(node=unit.node, line=line, cases=tuple(cases))


def _case(
    checkable: Checkable, case: ResolvedCase, settings: Settings, budget: float
) -> CaseProfile:
    known = CaseProfile(name=case.name, arguments=case.arguments, source=case.source)
    limit = settings.timeout and settings.timeout + budget
    try:
        with (
            global_generators(case.seed),
            user_code(settings, checkable.folder),
            time_limit(limit) if limit else nullcontext(),
        ):
            return replace(known, phases=_phases(checkable, case, settings, budget))
    except Terminated as error:
        return replace(known, problem=f"the Function {error.termination.message}")
    except _ForwardRaised as error:
        return replace(known, problem=str(error))
    except Exception as error:
        if user_method(error, checkable.folder) is None:
            raise  # A fault of gradtool's own.
        return replace(known, problem=f"a second run raised {_line(error, checkable)}")


class _ForwardRaised(Exception):  # noqa: N818 - the state of a Function
    """The forward raised, so that nothing can be profiled."""


def _phases(
    checkable: Checkable, case: ResolvedCase, settings: Settings, budget: float
) -> tuple[Phase, ...]:
    """All phases, sampled in turn so that drift affects all of them alike."""
    try:
        arguments = Arguments(checkable, case)
    except Exception as error:
        raise _ForwardRaised(f"forward raised {_line(error, checkable)}") from error
    found = [
        _warmed(name, make, arguments, checkable, settings.device) for name, make in _MAKERS.items()
    ]
    sample_in_turn([each for each in found if isinstance(each, SampledPhase)], seconds=budget)
    return tuple(each if isinstance(each, Phase) else each.phase() for each in found)


def _warmed(
    name: PhaseName,
    make: Callable[[Arguments], Runnable],
    arguments: Arguments,
    checkable: Checkable,
    device: str,
) -> SampledPhase | Phase:
    """The phase, ready to be sampled, or the reason that there is none."""
    try:
        return SampledPhase(make(arguments), device)
    except NoPhaseError as error:
        return Phase(name=name, unavailable=str(error))
    except Exception as error:
        return Phase(name=name, unavailable=_line(error, checkable), raised=True)


def _line(error: Exception, checkable: Checkable) -> str:
    """The error and its place in one line."""
    if isinstance(error, MemoryError):
        raise error
    found = describe(error, checkable.folder)
    place = f" ({found.location.path}:{found.location.line})" if found.location else ""
    return f"{found.summary}{place}"
