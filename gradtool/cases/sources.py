"""The cases of a Function, from the configuration, ``sample_inputs`` or inference.

The first of these sources that has any case is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import msgspec
from msgspec.structs import replace

from gradtool.adapters.common.module_call import ModuleCall
from gradtool.adapters.common.random_state import global_generators
from gradtool.cases.arguments import adopt, bind_arguments, show_arguments
from gradtool.cases.case import Case
from gradtool.cases.drawn import case_seed, draw
from gradtool.cases.inferred import infer_cases
from gradtool.cases.module_samples import samples_of
from gradtool.cases.own_methods import OwnMethods
from gradtool.cases.preparation import Call
from gradtool.cases.sample_inputs import has_samples, read_samples
from gradtool.cases.written import is_serializable
from gradtool.collect.checkable import Checkable
from gradtool.collect.discovery import function_location
from gradtool.config.schema import CaseConfig, case_name
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import NoCase
from gradtool.results.report import Location, Relaxation
from gradtool.sandbox.user_errors import summarize


class ResolvedCase(msgspec.Struct, frozen=True, eq=False):
    """One set of arguments, ready for a Function."""

    name: str
    source: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    seed: int
    """Seed of everything random in its checks, from its node id and the run's seed."""
    atol: float | None
    rtol: float | None
    arguments: tuple[str, ...]
    """One line for each argument."""
    relaxed: Relaxation | None = None
    """Its tolerance, if one was given."""
    written: CaseConfig | None = None
    """The case as a configuration writes it; None if its tensors were given."""
    inferred_from: str | None = None
    """The part of the source that inferred arguments follow from; None for the signature."""
    is_guess: bool = False
    """Some argument is one that forward happened to accept."""
    before: tuple[Call, ...] = ()
    """Calls that have to come before the Function, which were made."""


def resolve_cases(
    checkable: Checkable, settings: Settings, configured: Sequence[CaseConfig] = ()
) -> list[ResolvedCase]:
    """List the cases of `checkable`, from the first source that has any.

    Raises:
        NoCase: No source has one, or the source is invalid.
    """
    with global_generators(case_seed(checkable, settings, "")):
        if configured:
            cases = enumerate(configured)
            return [_configured(checkable, settings, case, i) for i, case in cases]
        if has_samples(checkable):
            return given_cases(checkable, settings, _samples(checkable, settings), "sample_inputs")
        return _inferred(checkable, settings)


def _configured(checkable: Checkable, settings: Settings, case: CaseConfig, i: int) -> ResolvedCase:
    """Resolve the case at position `i` of a configuration.

    Raises:
        NoCase: It does not fit the Function.
    """
    try:
        return _drawn(checkable, settings, case, case_name(case, i + 1), "config")
    except NoCase as error:
        error.part = f"cases[{i}]"
        raise


def _samples(checkable: Checkable, settings: Settings) -> list[Case]:
    """The cases that the Function itself gives.

    Raises:
        NoCase: It gives none, or replaces what is to be checked.
    """
    methods = OwnMethods(checkable.obj)
    samples = read_samples(checkable, settings.device)
    replaced = methods.replaced()
    if replaced is not None:
        raise NoCase(
            f"sample_inputs replaced {replaced}, so the check would not run the method that other "
            "code runs",
            hint="sample_inputs may only create arguments",
            location=_samples_location(checkable),
        )
    return samples


def _inferred(checkable: Checkable, settings: Settings) -> list[ResolvedCase]:
    """Resolve the cases that inference finds, after the calls that have to come before them.

    Raises:
        NoCase: It finds none.
    """
    found, calls_for = infer_cases(checkable, settings)

    def resolved(config: CaseConfig) -> ResolvedCase:
        case = _drawn(checkable, settings, config, str(config.name), "inferred")
        before = calls_for(case.args)
        return replace(
            case,
            inferred_from=found.evidence,
            is_guess=found.is_guess,
            before=before,
            arguments=(*case.arguments, *(f"called before: {call}" for call in before)),
        )

    return list(map(resolved, found.cases))


def given_cases(
    checkable: Checkable, settings: Settings, cases: Sequence[Case], source: str
) -> list[ResolvedCase]:
    """Resolve cases that hold their tensors already; those without a name are numbered.

    Raises:
        NoCase: Two of them have the same name.
    """
    word = "sample" if source == "sample_inputs" else "case"
    # A name may be an instance of a class derived from str, with an equality of its own.
    given = [case.name and str.__str__(case.name) for case in cases]
    names = [name or f"{word}{number}" for number, name in enumerate(given, 1)]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated:
        raise NoCase(
            f"{source} has two cases named {repeated!r}: give each its own name",
            location=_samples_location(checkable),
        )
    made = []
    for case, name in zip(cases, names, strict=True):
        args, kwargs = _adopted(case, name, settings)
        made.append(_resolved(checkable, settings, args, kwargs, case, name, source))
    return made


def _adopted(case: Case, name: str, settings: Settings) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a case, taken over from the user's code.

    Raises:
        NoCase: One of them is an odd tensor, such as one of a class with attributes of its own.
    """
    try:
        return adopt(case.args, case.kwargs, settings)
    except MemoryError:
        raise
    except Exception as error:
        problem = f"the arguments of case {name!r} cannot be used: {summarize(error)}"
        raise NoCase(problem) from error


def _samples_location(checkable: Checkable) -> Location | None:
    method = samples_of(checkable)
    return function_location(method) if method else None


def _drawn(
    checkable: Checkable, settings: Settings, case: CaseConfig, name: str, source: str
) -> ResolvedCase:
    """Resolve a case whose tensors are drawn at random."""
    args, kwargs = draw(checkable, settings, case, name)
    made = _resolved(checkable, settings, args, kwargs, case, name, source)
    return replace(made, written=case if is_serializable(case) else None)


def _resolved(
    checkable: Checkable,
    settings: Settings,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    case: Case | CaseConfig,
    name: str,
    source: str,
) -> ResolvedCase:
    bound, named = _with_parameters(checkable, *bind_arguments(checkable, args, kwargs))
    atol, rtol = settings.tolerances(case.atol, case.rtol)
    return ResolvedCase(
        name=name,
        source=source,
        args=bound,
        kwargs=named,
        seed=case_seed(checkable, settings, name),
        atol=atol,
        rtol=rtol,
        arguments=show_arguments(checkable, bound, named),
        relaxed=_relaxation(settings, case),
    )


def _relaxation(settings: Settings, case: Case | CaseConfig) -> Relaxation | None:
    """The tolerance of a case, with its reason and last day; None if it has the default."""
    atol, rtol = settings.tolerances(case.atol, case.rtol)
    if atol is None and rtol is None:
        return None
    if (atol, rtol) == (settings.flag_atol, settings.flag_rtol):
        return Relaxation(atol=atol, rtol=rtol)
    expires = case.expires or settings.expires
    return Relaxation(
        atol=atol,
        rtol=rtol,
        reason=case.reason or settings.reason,
        expires=None if expires is None else date.fromisoformat(str(expires)).isoformat(),
    )


def _with_parameters(
    checkable: Checkable, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Add the parameters of a module to the arguments.

    Raises:
        NoCase: A keyword argument has the name of a parameter.
    """
    if not isinstance(checkable.obj, ModuleCall):
        return args, kwargs
    parameters = checkable.obj.parameters
    both = sorted(parameters.keys() & kwargs.keys())
    if both:
        raise NoCase(f"{both[0]!r} is also the name of a parameter: pass this argument by position")
    return args, {**kwargs, **parameters}
