"""One Function: recorded at its case, reversed, written, and checked at every case."""

from __future__ import annotations

import inspect
import linecache
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from gradtool.adapters.common.binding import bind, names_of, parameters_of
from gradtool.adapters.common.random_state import global_generators
from gradtool.adapters.library import library
from gradtool.cases.sources import ResolvedCase
from gradtool.checking.case_check import check_case
from gradtool.checking.plan import PlannedFunction
from gradtool.derive.assembly import Assembly, Branch
from gradtool.derive.beside import wrong_beside
from gradtool.derive.branching import branches
from gradtool.derive.expression import Graph
from gradtool.derive.problem import NotDerivable
from gradtool.derive.recorded import Recorded
from gradtool.derive.trace import record
from gradtool.derive.writing import Methods, Wanted, Writer
from gradtool.results.report import Severity, Verdict


@dataclass(frozen=True)
class Derived:
    """A class that passed the check.

    Args:
        text: Its source.
        made: The class itself.
        cases: The names of the cases, each with its arguments, at which it was checked.
        limits: What differs from these cases where it is wrong.
        unrolled: The lines of loops whose steps are written out, and the number of these.
    """

    text: str
    made: Any
    cases: tuple[tuple[str, tuple[str, ...]], ...]
    unrolled: dict[int, int]
    limits: tuple[str, ...] = ()


def derive(planned: PlannedFunction, wanted: Wanted | None = None) -> Derived:
    """Write a correct backward for a Function.

    Raises:
        NotDerivable: Forward cannot be recorded, or the written class fails the check.
    """
    wanted = wanted or Wanted()
    if not planned.checkable.is_function:
        raise NotDerivable("is not a Function, so there is no backward to write")
    if planned.problem is not None or not planned.cases:
        finding = (
            planned.problem.findings[0].message
            if planned.problem and planned.problem.findings
            else "has no case"
        )
        raise NotDerivable(finding)
    derived = _passing(planned, wanted)
    for number in range(1, _MOST_ADDED + 1):
        found = wrong_beside(planned, derived.made)
        if found is None:
            break
        added = found.as_case(f"explored{number}")
        planned = structs.replace(planned, cases=[*planned.cases, added])
        try:
            derived = _passing(planned, wanted)
        except NotDerivable:
            return replace(derived, limits=(found.change,))
    return derived


_MOST_ADDED = 3
"""Cases that exploring may add, each for a branch that the others do not take."""


def _passing(planned: PlannedFunction, wanted: Wanted) -> Derived:
    """Write a class that passes at every case.

    Raises:
        NotDerivable: None does.
    """
    cls = planned.checkable.obj
    problems: list[str] = []
    tried: set[str] = set()
    for means in (wanted, replace(wanted, saves_outputs=False)):
        for text in _texts_that_end(cls, planned.cases, means):
            if text in tried:
                continue
            tried.add(text)
            made = compiled(cls, text)
            found = faults(planned, made)
            if not found:
                shown = tuple((each.name, each.arguments) for each in planned.cases)
                return Derived(text, made, shown, _recorded(cls, planned.cases[0]).unrolled())
            problems.append(found[0])
    raise NotDerivable(f"the derived backward does not pass the check: {problems[0]}")


def _texts_that_end(cls: Any, cases: Sequence[ResolvedCase], wanted: Wanted) -> Iterator[str]:
    """Yield what `_texts` does; a program that nests too deeply is one problem, said in a line."""
    try:
        yield from _texts(cls, cases, wanted)
    except RecursionError:
        raise NotDerivable("forward nests too many steps to write out") from None


def _texts(cls: Any, cases: Sequence[ResolvedCase], wanted: Wanted) -> Iterator[str]:
    """Yield the class as the first case has it, then with a branch for each kind of case."""
    first = Writer(cls, _recorded(cls, cases[0]), wanted)
    yield Assembly(first, [Branch(first.methods())], wants_vmap=wanted.vmap).text()
    groups: list[tuple[Methods, list[Any]]] = []
    for case in cases:
        methods = Writer(cls, _recorded(cls, case), wanted).methods()
        same = next((g for g in groups if g[0].backward == methods.backward), None)
        if same is None:
            groups.append((methods, []))
        (same or groups[-1])[1].append(_values(cls, case))
    if len(groups) > 1:
        yield Assembly(first, branches(groups, first.ctx), wants_vmap=wanted.vmap).text()


def _values(cls: Any, case: ResolvedCase) -> dict[str, Any]:
    """The arguments of a case by name, defaults included."""
    bound = inspect.Signature(parameters_of(cls)).bind(*case.args, **case.kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _recorded(cls: Any, case: ResolvedCase) -> Recorded:
    torch = library().torch
    args, kwargs = bind(cls, case.args, case.kwargs)
    args = tuple(_copy(each) for each in args)
    needs = [isinstance(each, library().Tensor) and each.requires_grad for each in args]
    if not any(needs):
        for place, each in enumerate(args):
            if isinstance(each, library().Tensor) and (
                each.dtype.is_floating_point or each.dtype.is_complex
            ):
                each.requires_grad_()
                needs[place] = True
    names = names_of(cls, len(args))
    has_math = vars(sys.modules[cls.__module__]).get("math") is math
    graph = Graph(torch, _torch_name(cls), has_math=has_math)
    try:
        with global_generators(case.seed):
            recorded = record(cls, graph, args, kwargs, needs, names)
    except NotDerivable:
        raise
    except Exception as error:  # Of the user's own, of any type.
        raise NotDerivable(f"forward raised {type(error).__name__}: {error}") from None
    recorded.argument_names = list(names)
    return recorded


def _copy(value: Any) -> Any:
    if not isinstance(value, library().Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def _torch_name(cls: Any) -> str:
    """The name of the library in the user's module."""
    names = vars(sys.modules[cls.__module__])
    return next((name for name, each in names.items() if each is library().torch), "torch")


def compiled(cls: Any, text: str) -> Any:
    """Return the class of a text, in the module of the one it was derived from.

    Raises:
        NotDerivable: It does not run.
    """
    names = dict(vars(sys.modules[cls.__module__]))
    names.setdefault("torch", library().torch)
    path = f"<derived {cls.__name__}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    try:
        exec(compile(text, path, "exec"), names)
    except Exception as error:  # Of any type: the body of a class is code.
        raise NotDerivable(f"the derived backward does not run: {error}") from None
    made = names[cls.__name__]
    for name in ("forward", "backward", "setup_context", "jvp"):
        function = made.__dict__.get(name)
        if function is not None:
            function.__func__.__globals__[cls.__name__] = made
    return made


def faults(planned: PlannedFunction, made: Any) -> list[str]:
    """Return what the check finds wrong with a class at the cases of a Function."""
    checkable = structs.replace(planned.checkable, obj=made)
    found: list[str] = []
    for case in planned.cases:
        checked = check_case(planned.unit, checkable, case, planned.unit.settings.timeout)
        found += _faults(case.name, checked.result.checks)
        if found:
            break
    return found


def _faults(case: str, checks: Sequence[Any]) -> list[str]:
    return [
        f"{check.rule} at {case}: {check.findings[0].message if check.findings else check.reason}"
        for check in checks
        if check.verdict in {Verdict.FAIL, Verdict.ERROR, Verdict.UNVERIFIED}
        and (not check.findings or any(each.severity is Severity.ERROR for each in check.findings))
    ]
