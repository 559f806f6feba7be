"""Explanations of why no arguments of a Function were found, with what to do about it."""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import re
from typing import Any

from gradtool.adapters.common.binding import parameter_in_place_of_ctx
from gradtool.cases.advice import how_to_give_a_case
from gradtool.cases.arguments import bind_arguments, show_arguments
from gradtool.cases.drawn import draw
from gradtool.cases.inference.annotations import evaluated
from gradtool.cases.inference.calls.call_sites import module_source
from gradtool.cases.inference.search import SearchResult
from gradtool.cases.inference.trials import BEYOND_LINES, rerun_forward
from gradtool.collect.checkable import Checkable
from gradtool.collect.discovery import function_location
from gradtool.config.schema import CaseConfig
from gradtool.config.settings import Settings
from gradtool.engine._placeholder import EngineLacksError, Placeholder
from gradtool.findings.could_not_run import NoCase
from gradtool.results.report import Location
from gradtool.sandbox import debugger
from gradtool.verify.demanded_dtype import asks_for_single

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

_CALLS_NONE = re.compile("'NoneType' object (is not callable|has no attribute)")
"""Matches the refusal of what calls None, or a function of it."""

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

GAPS = tuple(_LACKS)
"""These errors: a name that the engine or the environment lacks."""


def no_arguments(checkable: Checkable) -> NoCase:
    """Explain that a callable has no parameters to find arguments for."""
    first = parameter_in_place_of_ctx(checkable.obj)
    if first is None:
        return NoCase("it takes no arguments, or has no signature to infer them from")
    return NoCase(
        f"forward has no ctx: its only parameter, `{first}`, gets it",
        hint=_ADD_CTX,
        location=function_location(checkable.obj.forward),
    )


_ADD_CTX = "add ctx as its first parameter, or define setup_context"


def debug_refusal(checkable: Checkable, settings: Settings, likeliest: CaseConfig | None) -> None:
    """Open the debugger, for ``--pdb``, where forward refuses the likeliest arguments."""
    if likeliest is not None and debugger.is_enabled():
        args, kwargs = draw(checkable, settings, likeliest, str(likeliest.name))
        rerun_forward(checkable, *bind_arguments(checkable, args, kwargs))


def nothing_found(checkable: Checkable, settings: Settings, search: SearchResult) -> NoCase:
    """Explain that a search found no arguments, and say what to add."""
    if search.likeliest is not None and search.objection.startswith(GAPS):
        return _lacking(checkable, settings, search.likeliest, search.objection)
    hint = _missing_dependency(search.objection) or how_to_give_a_case(checkable, search)
    if hint and (package := _needed_by_callers(search)):
        hint = f"install `{package}`, which a caller of it needs to show its arguments; or {hint}"
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
    absent = _not_imported(checkable, search)
    if absent is not None:
        return NoCase(
            f"forward cannot run here: `{absent}` is None, because its import failed",
            hint=f"install the optional dependency that `{absent}` needs",
            location=_line_of_refusal(checkable, search),
        )
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


def _not_imported(checkable: Checkable, search: SearchResult) -> str | None:
    """Name what forward calls, and what is None in place of an optional import."""
    if search.doubt is not None or not _CALLS_NONE.search(search.objection):
        return None
    tree, _ = module_source(checkable.obj)
    _, known = _refused_line(checkable, search)
    nodes = list(ast.walk(tree)) if tree else []
    imported = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom | ast.Import)
        for alias in node.names
    }
    line = search.reached[-1] if search.reached else 0
    refused = (each for each in nodes if isinstance(each, ast.stmt) and each.lineno == line)
    called = (_called(each) & imported for each in refused)
    return next((name for names in called for name in names if known.get(name, "") is None), None)


def _called(statement: ast.stmt) -> set[str]:
    """The names that a statement calls, or of which it calls a function."""
    calls = (each.func for each in ast.walk(statement) if isinstance(each, ast.Call))
    owners = (each.value if isinstance(each, ast.Attribute) else each for each in calls)
    return {each.id for each in owners if isinstance(each, ast.Name)}


def _refused_line(checkable: Checkable, search: SearchResult) -> tuple[str, dict[str, Any]]:
    """The text of the line that refused the likeliest arguments, and the globals of forward."""
    line = search.reached[-1] if search.reached else 0
    forward = inspect.unwrap(getattr(checkable.obj, "forward", checkable.obj))
    return linecache.getline(str(checkable.file), line), getattr(forward, "__globals__", {})


def _stand_in_of(checkable: Checkable, search: SearchResult) -> str | None:
    """Say what is lacking if forward asks for an object of a class that a stand-in replaces."""
    text, known = _refused_line(checkable, search)
    asked = [known.get(name) for name in _ASKS_FOR_CLASS.findall(text)]
    if _OF_VALUE.search(search.objection):
        notes = [each.annotation for each in checkable.parameters()]
        asked += [evaluated(each, known) if isinstance(each, str) else each for each in notes]
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
    args, kwargs = draw(checkable, settings, search.likeliest, str(search.likeliest.name))
    shown = ", ".join(show_arguments(checkable, args, kwargs))
    sets = "set" if search.calls == 1 else "sets"
    tried = f"forward ran, but {search.doubt} ({search.calls} {sets} of arguments tried)"
    return f"{tried}; the likeliest arguments: {shown}"


def _needed_object(search: SearchResult) -> str | None:
    """Name the argument that has to be an object which only the user's code can make.

    No value had the attribute that forward takes, or what took its place did not do.
    """
    found = _LACKS_ATTRIBUTE.search(search.objection)
    named = (
        name for name, each in search.objects.items() if found and found[1] in _words(each.kind)
    )
    # Where there is one object, it is the one in place of which a value was refused.
    is_only = len(search.objects) == 1 and _OF_VALUE.search(search.objection)
    stood_for = search.objects if is_only or _OF_STAND_IN.search(search.objection) else ()
    name = next(itertools.chain(named, stood_for), None)
    return None if name is None else f"`{name}`, {search.objects[name].kind}"


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


def _needed_by_callers(search: SearchResult) -> str | None:
    """The package without which no caller of a Function runs; None if that is not why."""
    refusals = [each.partition(": ")[2] for each in search.callers]
    found = [_NOT_INSTALLED.match(each) for each in refusals]
    packages = {each[1] if each else None for each in found}
    return packages.pop() if len(packages) == 1 else None


def _install(objection: str) -> str | None:
    """Name the package to install, where a name of one that is missing was used."""
    found = _NOT_INSTALLED.match(objection)
    return f"install `{found[1]}` in the environment that runs gradtool" if found else None


def _lacking(
    checkable: Checkable, settings: Settings, likeliest: CaseConfig, objection: str
) -> NoCase:
    """Explain that forward needs what is not there, at the line of its use."""
    args, kwargs = draw(checkable, settings, likeliest, str(likeliest.name))
    raised = rerun_forward(checkable, *bind_arguments(checkable, args, kwargs))
    return NoCase(
        f"forward cannot run here: {objection.partition(': ')[2]}",
        hint=_install(objection) or _LACKS[objection.partition(":")[0]],
        detail=raised.detail if raised else None,
        location=raised.location if raised else None,
    )
