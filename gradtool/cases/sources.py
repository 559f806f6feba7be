"""The cases of a Function, from the configuration, ``sample_inputs`` or inference.

The first of these sources that has any case is used.
"""

from __future__ import annotations

import inspect
import itertools
import linecache
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import msgspec
from msgspec.structs import replace

from gradtool.adapters.common.binding import parameter_in_place_of_ctx
from gradtool.adapters.common.module_call import ModuleCall
from gradtool.adapters.common.random_state import global_generators, stable_seed
from gradtool.cases.advice import how_to_give_a_case
from gradtool.cases.arguments import adopt, bind_arguments, make_value, show_arguments
from gradtool.cases.case import Case
from gradtool.cases.inference.calls.unpacked import unpacked
from gradtool.cases.inference.clues import read_clues
from gradtool.cases.inference.finding import Tries, find_cases
from gradtool.cases.inference.search import SearchResult
from gradtool.cases.inference.trials import (
    BEYOND_LINES,
    Trial,
    attempt,
    read_by_triangle,
    rerun_forward,
    that_may_not_change,
    without_influence,
)
from gradtool.cases.module_samples import samples_of
from gradtool.cases.own_methods import OwnMethods
from gradtool.cases.sample_inputs import has_samples, read_samples
from gradtool.cases.written import is_serializable
from gradtool.collect.checkable import Checkable
from gradtool.collect.discovery import function_location
from gradtool.config.schema import CaseConfig, case_name
from gradtool.config.settings import Settings
from gradtool.engine._placeholder import EngineLacksError, Placeholder
from gradtool.findings.could_not_run import NoCase
from gradtool.results.report import Location, Relaxation
from gradtool.sandbox import debugger
from gradtool.sandbox.user_errors import summarize
from gradtool.verify.demanded_dtype import asks_for_single
from gradtool.verify.oracle.evaluation_timeout import EvaluationTimeout, EvaluationTimeoutError

_PER_TRY = 3
"""Evaluations in place of which a try of arguments counts: forward and backward."""

_ENVIRONMENT = re.compile(
    r"assert os\.(?:environ(?:\.get\(|\[)|getenv\()['\"](\w+)['\"][^=]*== ['\"](.*?)['\"]"
)
"""Matches an assertion of the value of a variable of the environment."""

_NEEDS_CUDA = re.compile(
    r"(?<![a-z])cuda(?![a-z])|CuPy|NVIDIA|\bTriton\b"
    r"|\b(available|implemented|supported) (on|for) (the )?cpu\b",
    re.IGNORECASE,
)
"""Matches the refusal of arguments by a Function that runs on CUDA only."""

_MISSING = re.compile(r"(?:NameError: name|ModuleNotFoundError: No module named) '([\w.]+)'")
"""Matches the refusal of arguments by a Function that uses what its module could not import."""

_SAYS_LACKING = re.compile(
    r"\bpip install\b|\b(is|are) not (available|installed|built)\b"
    r"|\b\w+ (is|are) required( for|\.|$)"
)
"""Matches the refusal of arguments by a Function that needs an optional package."""

_ASKS_FOR_CLASS = re.compile(r"\bisinstance\([^,]+,\s*(\w+)")
"""Matches the line that refuses an object, with the class that it should have."""

_LACKS_ATTRIBUTE = re.compile(r"object has no attribute '(\w+)'")
"""Matches the refusal of arguments of which one is no object of the kind that it should be."""

_OF_STAND_IN = re.compile(r"\b(Operator|SimpleNamespace)\b")
"""Matches the refusal of an object that inference made."""

_OF_VALUE = re.compile(r"'(Tensor|bool|int|float|str|list|dict|NoneType)' object has no attribute")
"""Matches the refusal of a value that inference tried in place of an object."""

_LACKS = {
    EngineLacksError.__name__: "check it with --engine torch, where PyTorch is installed",
    "EngineLacksAttributeError": "check it with --engine torch, where PyTorch is installed",
    "StandInError": "install the package that it comes from in the environment that runs gradtool",
}
"""Errors that begin the refusal of arguments when no other arguments would help, and hints."""


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
        found = _inferred(checkable, settings)
        drawn = [
            _drawn(checkable, settings, each, str(each.name), "inferred") for each in found.cases
        ]
        return [
            replace(case, inferred_from=found.evidence, is_guess=found.is_guess) for case in drawn
        ]


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


def case_seed(checkable: Checkable, settings: Settings, case: str) -> int:
    """Seed of a case.

    It depends on the file's name rather than its path, so that the folder a run is
    started in does not change the numbers.
    """
    return stable_seed(f"{checkable.file.name}::{checkable.name}[{case}]", settings.seed)


def _drawn(
    checkable: Checkable, settings: Settings, case: CaseConfig, name: str, source: str
) -> ResolvedCase:
    """Resolve a case whose tensors are drawn at random."""
    args, kwargs = _make(checkable, settings, case, name)
    made = _resolved(checkable, settings, args, kwargs, case, name, source)
    return replace(made, written=case if is_serializable(case) else None)


def _make(
    checkable: Checkable, settings: Settings, case: CaseConfig, name: str
) -> tuple[list[Any], dict[str, Any]]:
    seed = case_seed(checkable, settings, name)
    try:
        args = [make_value(v, settings, seed, str(i)) for i, v in enumerate(case.args)]
        kwargs = {k: make_value(v, settings, seed, k) for k, v in case.kwargs.items()}
    except (MemoryError, ValueError) as error:
        raise NoCase(f"the tensors of case {name!r} cannot be created: {error}") from None
    return args, kwargs


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


def _inferred(checkable: Checkable, settings: Settings) -> SearchResult:
    """Infer cases by trying arguments.

    Raises:
        NoCase: The Function accepts nothing that was tried.
    """
    parameters = checkable.parameters()
    if not parameters:
        raise _no_arguments(checkable)
    parameters, values = unpacked(checkable.obj, parameters)
    names = tuple(parameter.name for parameter in parameters)

    def bound(case: CaseConfig) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = _make(checkable, settings, case, str(case.name))
        return bind_arguments(checkable, args, kwargs)

    timeout = EvaluationTimeout()

    def try_case(case: CaseConfig) -> Trial:
        try:
            made = bound(case)
            with timeout.limited(_PER_TRY):  # Wrong arguments may iterate without end.
                return attempt(checkable, *made)
        except (NoCase, EvaluationTimeoutError) as error:  # They are too large, for one.
            return Trial(refusal=str(error))

    def ignored(case: CaseConfig) -> list[int]:
        return without_influence(checkable, bound(case)[0], case_seed(checkable, settings, ""))

    def fixed(case: CaseConfig) -> list[int]:
        return that_may_not_change(checkable, bound(case)[0], case_seed(checkable, settings, ""))

    def triangles(case: CaseConfig) -> list[int]:
        return read_by_triangle(checkable, bound(case)[0], case_seed(checkable, settings, ""))

    def made(case: CaseConfig) -> list[Any]:
        return _make(checkable, settings, case, str(case.name))[0]

    read = read_clues(checkable.obj, names)
    clues = replace(read, passed={**read.passed, **values})
    tries = Tries(try_case, made, ignored, fixed, triangles)
    search = find_cases(checkable, parameters, clues, tries, tuple(_LACKS))
    if not search.cases:
        _debug_refusal(checkable, settings, search.likeliest)
        raise _nothing_found(checkable, settings, search)
    return search


def _no_arguments(checkable: Checkable) -> NoCase:
    first = parameter_in_place_of_ctx(checkable.obj)
    if first is None:
        return NoCase("it takes no arguments, or has no signature to infer them from")
    return NoCase(
        f"forward has no ctx: its only parameter, `{first}`, gets it",
        hint=_ADD_CTX,
        location=function_location(checkable.obj.forward),
    )


_ADD_CTX = "add ctx as its first parameter, or define setup_context"


def _debug_refusal(checkable: Checkable, settings: Settings, likeliest: CaseConfig | None) -> None:
    """Open the debugger, for ``--pdb``, where forward refuses the likeliest arguments."""
    if likeliest is not None and debugger.is_enabled():
        args, kwargs = _make(checkable, settings, likeliest, str(likeliest.name))
        rerun_forward(checkable, *bind_arguments(checkable, args, kwargs))


def _nothing_found(checkable: Checkable, settings: Settings, search: SearchResult) -> NoCase:
    if search.likeliest is not None and search.objection.startswith(tuple(_LACKS)):
        return _lacking(checkable, settings, search.likeliest, search.objection)
    hint = _missing_dependency(search.objection) or how_to_give_a_case(checkable, search)
    first = parameter_in_place_of_ctx(checkable.obj)
    if first is not None:
        hint = f"`{first}` gets the ctx of forward: {_ADD_CTX}"
    if hint and asks_for_single(search.objection):
        hint = f"if it takes float32 alone, add `dtype: float32` to its tensors; {hint}"
    is_lacking = search.doubt is None and bool(_MISSING.match(search.objection))
    if search.doubt is None and _SAYS_LACKING.search(search.objection):
        hint = "install what the message names in the environment that runs gradtool"
        is_lacking = True
    if variable := _ENVIRONMENT.search(search.objection):
        hint = f"set {variable[1]}={variable[2]} in the environment of gradtool"
        is_lacking = search.doubt is None
    elif settings.device == "cpu" and _NEEDS_CUDA.search(search.objection):
        hint = "it needs CUDA: check it with --device cuda on a machine that has a GPU"
        is_lacking = search.doubt is None
    stand_in = _stand_in_of(checkable, search)
    if stand_in is not None:
        return NoCase(
            f"forward cannot run here: {stand_in}",
            hint=_install(f"StandInError: {stand_in}") or _LACKS["StandInError"],
            location=_line_of_refusal(checkable, search),
        )
    refusals = [f"{count} x {reason}" for reason, count in search.refusals.most_common()]
    return NoCase(
        f"forward cannot run here: {search.objection}"
        if is_lacking
        else _outcome(checkable, settings, search),
        hint=hint,
        detail="\n".join([*refusals, *(f"tried through {each}" for each in search.callers)]),
        location=_line_of_refusal(checkable, search),
    )


def _stand_in_of(checkable: Checkable, search: SearchResult) -> str | None:
    """Say what is lacking if forward asks for an object of a class that a stand-in replaces."""
    line = search.reached[-1] if search.reached else 0
    forward = inspect.unwrap(getattr(checkable.obj, "forward", checkable.obj))
    text = linecache.getline(str(checkable.file), line)
    known = getattr(forward, "__globals__", {})
    asked = [known.get(name) for name in _ASKS_FOR_CLASS.findall(text)]
    if _OF_VALUE.search(search.objection):
        asked += [each.annotation for each in checkable.parameters()]
    stand_ins = (value for value in asked if isinstance(value, Placeholder) and value._is_name())
    found = next(stand_ins, None) if search.doubt is None else None
    return None if found is None else str(found._error())


def _outcome(checkable: Checkable, settings: Settings, search: SearchResult) -> str:
    """Say what speaks against the likeliest arguments, and which they are if forward took them."""
    needed = None if search.doubt else _needed_object(search)
    if needed is not None:
        return f"forward needs {needed} ({search.calls} sets of arguments tried)"
    if not search.doubt or search.likeliest is None:
        tried = f"found no arguments that forward accepts ({search.calls} tried)"
        return f"{tried}; with the likeliest ones: {search.objection}"
    args, kwargs = _make(checkable, settings, search.likeliest, str(search.likeliest.name))
    shown = ", ".join(show_arguments(checkable, args, kwargs))
    sets = "set" if search.calls == 1 else "sets"
    tried = f"forward ran, but {search.doubt} ({search.calls} {sets} of arguments tried)"
    return f"{tried}; the likeliest arguments: {shown}"


def _needed_object(search: SearchResult) -> str | None:
    """Name the argument that has to be an object which only the user's code can make.

    No value had the attribute that forward takes, or what took its place did not do.
    """
    found = _LACKS_ATTRIBUTE.search(search.objection)
    named = (name for name, kind in search.objects.items() if found and found[1] in _words(kind))
    # Where there is one object, it is the one in place of which a value was refused.
    is_only = len(search.objects) == 1 and _OF_VALUE.search(search.objection)
    stood_for = search.objects if is_only or _OF_STAND_IN.search(search.objection) else ()
    name = next(itertools.chain(named, stood_for), None)
    return None if name is None else f"`{name}`, {search.objects[name]}"


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _missing_dependency(objection: str) -> str | None:
    """Name what forward needs and an optional import did not give."""
    missing = _MISSING.match(objection)
    return f"install the optional dependency that provides `{missing[1]}`" if missing else None


def _line_of_refusal(checkable: Checkable, search: SearchResult) -> Location | None:
    """The user's line that refused the likeliest arguments; None if it is not one of the file."""
    line = search.reached[-1] if search.reached else 0
    if not 0 < line < BEYOND_LINES or BEYOND_LINES in search.reached:
        return None
    return Location(path=checkable.location.path, line=line)


_NOT_INSTALLED = re.compile(r"StandInError: (\w+)[\w.]* is not installed")


def _install(objection: str) -> str | None:
    """Name the package to install, where a name of one that is missing was used."""
    found = _NOT_INSTALLED.match(objection)
    return f"install `{found[1]}` in the environment that runs gradtool" if found else None


def _lacking(
    checkable: Checkable, settings: Settings, likeliest: CaseConfig, objection: str
) -> NoCase:
    """Explain that forward needs what is not there, at the line of its use."""
    args, kwargs = _make(checkable, settings, likeliest, str(likeliest.name))
    raised = rerun_forward(checkable, *bind_arguments(checkable, args, kwargs))
    return NoCase(
        f"forward cannot run here: {objection.partition(': ')[2]}",
        hint=_install(objection) or _LACKS[objection.partition(":")[0]],
        detail=raised.detail if raised else None,
        location=raised.location if raised else None,
    )
