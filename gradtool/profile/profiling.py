"""Profiles one Function at each of its cases, in the process that this is imported in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from msgspec.structs import replace

from gradtool.adapters.common.seeding import global_generators
from gradtool.cases.sources import ResolvedCase
from gradtool.checking.plan import PlannedFunction
from gradtool.checking.unit import Unit
from gradtool.checking.worker_session import Bench
from gradtool.collect.loader import LoadError
from gradtool.collect.subject import Subject
from gradtool.config.settings import Settings
from gradtool.findings.terminations import import_mishap, not_imported
from gradtool.measure.rounds import sample_in_turn
from gradtool.profile.format import told
from gradtool.profile.phases import (
    Arguments,
    NotThereError,
    Runnable,
    backward,
    double_backward,
    forward,
)
from gradtool.profile.sampling import SampledPhase
from gradtool.results.profile import CaseProfile, FunctionProfile, Phase, PhaseName
from gradtool.results.report import CheckResult
from gradtool.sandbox.termination import Ended, unless_ended
from gradtool.sandbox.timeout import deadline
from gradtool.sandbox.user_errors import describe, user_method

Tell = Callable[[CaseProfile], None]

_MAKERS: dict[PhaseName, Callable[[Arguments], Runnable]] = {
    "forward": forward,
    "backward": backward,
    "double backward": double_backward,
}


def profile_unit(bench: Bench, unit: Unit, budget: float, tell: Tell) -> FunctionProfile:
    """Profile one Function, telling of each case as it is done.

    Raises:
        UsageError: A case was asked for that it has not.
    """
    try:
        with bench.opened(unit) as planned:
            return _profiled(planned, budget, tell)
    except LoadError as error:
        return problem_of(unit, not_imported(unit.node, error, unit.settings))
    except Ended as error:
        return problem_of(unit, import_mishap(unit.node, error.mishap, unit.settings))


def problem_of(unit: Unit, check: CheckResult) -> FunctionProfile:
    """A Function that could not be profiled, and why."""
    return FunctionProfile(node=unit.node, line=unit.line, problem=told(check), rule=check.rule)


def _profiled(planned: PlannedFunction, budget: float, tell: Tell) -> FunctionProfile:
    unit, line = planned.unit, planned.subject.location.line
    if planned.problem is not None:
        return problem_of(unit, planned.problem)
    cases = []
    for case in planned.cases:
        cases.append(_case(planned.subject, case, unit.settings, budget))
        tell(cases[-1])
    return FunctionProfile(node=unit.node, line=line, cases=tuple(cases))


def _case(subject: Subject, case: ResolvedCase, settings: Settings, budget: float) -> CaseProfile:
    known = CaseProfile(name=case.name, arguments=case.arguments, source=case.source)
    limit = settings.timeout and settings.timeout + budget
    try:
        with (
            global_generators(case.seed),
            unless_ended(settings, subject.folder),
            deadline(limit) if limit else nullcontext(),
        ):
            return replace(known, phases=_phases(subject, case, settings, budget))
    except Ended as error:
        return replace(known, problem=f"the Function {error.mishap.message}")
    except _ForwardRaised as error:
        return replace(known, problem=str(error))
    except Exception as error:
        if user_method(error, subject.folder) is None:
            raise  # A fault of gradtool's own.
        return replace(known, problem=f"run again, it raised {_line(error, subject)}")


class _ForwardRaised(Exception):  # noqa: N818 - the state of a Function
    """Nothing can be profiled."""


def _phases(
    subject: Subject, case: ResolvedCase, settings: Settings, budget: float
) -> tuple[Phase, ...]:
    """All phases, sampled in turn so that drift falls on all of them alike."""
    try:
        arguments = Arguments(subject, case)
    except Exception as error:
        raise _ForwardRaised(f"forward raised {_line(error, subject)}") from error
    found = [
        _warmed(name, make, arguments, subject, settings.device) for name, make in _MAKERS.items()
    ]
    sample_in_turn([each for each in found if isinstance(each, SampledPhase)], seconds=budget)
    return tuple(each if isinstance(each, Phase) else each.phase() for each in found)


def _warmed(
    name: PhaseName,
    make: Callable[[Arguments], Runnable],
    arguments: Arguments,
    subject: Subject,
    device: str,
) -> SampledPhase | Phase:
    """The phase, ready to be sampled, or why there is none."""
    try:
        return SampledPhase(make(arguments), device)
    except NotThereError as error:
        return Phase(name=name, unavailable=str(error))
    except Exception as error:
        return Phase(name=name, unavailable=_line(error, subject), raised=True)


def _line(error: Exception, subject: Subject) -> str:
    """What was raised and where, in one line."""
    if isinstance(error, MemoryError):
        raise error
    found = describe(error, subject.folder)
    place = f" ({found.location.path}:{found.location.line})" if found.location else ""
    return f"{found.summary}{place}"
