"""Explanations of why a Function cannot run here: what the environment or the engine lacks."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.cases.arguments import bind_arguments
from gradtool.cases.drawn import draw
from gradtool.cases.inference.annotations import evaluated
from gradtool.cases.inference.calls.call_sites import module_source
from gradtool.cases.inference.search import SearchResult
from gradtool.cases.inference.trials import BEYOND_LINES, IN_BACKWARD, Trial, rerun_forward
from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.engine._placeholder import EngineLacksError, Placeholder
from gradtool.findings.could_not_run import NoCase
from gradtool.results.report import Location

_LACKS = {
    EngineLacksError.__name__: "check it with --engine torch, where PyTorch is installed",
    "EngineLacksAttributeError": "check it with --engine torch, where PyTorch is installed",
    "StandInError": "install the package that it comes from in the environment that runs gradtool",
}
"""Errors that begin the refusal of arguments when no other arguments would help, and hints."""

GAPS = tuple(_LACKS)
"""These errors: a name that the engine or the environment lacks."""


def lacking(checkable: Checkable, settings: Settings, search: SearchResult) -> NoCase | None:
    """Say what a Function lacks by the first of these that applies; None if nothing is known.

    A name is known to be lacking where it is used. An import that failed shows in the line that
    refused the arguments. All else only the message of the refusal says.
    """
    answers = (_lacking_name, _lacking_import, _lacking_class, _lacking_by_message)
    found = (answer(checkable, settings, search) for answer in answers)
    return next((each for each in found if each is not None), None)


def _lacking_name(checkable: Checkable, settings: Settings, search: SearchResult) -> NoCase | None:
    """Explain that forward needs a name which is not there, at the line of its use."""
    if search.likeliest is None or not search.objection.startswith(GAPS):
        return None
    args, kwargs = draw(checkable, settings, search.likeliest, str(search.likeliest.name))
    raised = rerun_forward(checkable, *bind_arguments(checkable, args, kwargs))
    error, _, message = search.objection.partition(": ")
    return NoCase(
        f"forward cannot run here: {message}",
        hint=_hint_of_gap(search.objection, error),
        detail=raised.detail if raised else None,
        location=raised.location if raised else None,
    )


def _lacking_import(checkable: Checkable, _: Settings, search: SearchResult) -> NoCase | None:
    """Explain that forward calls what is None in place of an optional import."""
    absent = _not_imported(checkable, search)
    if absent is None:
        return None
    return NoCase(
        f"forward cannot run here: `{absent}` is None, because its import failed",
        hint=f"install the optional dependency that `{absent}` needs",
        location=line_of_refusal(checkable, search),
    )


def _lacking_class(checkable: Checkable, _: Settings, search: SearchResult) -> NoCase | None:
    """Explain that forward asks for an object of a class that a stand-in replaces."""
    stand_in = _stand_in_of(checkable, search)
    if stand_in is None:
        return None
    return NoCase(
        f"forward cannot run here: {stand_in}",
        hint=_install(f"StandInError: {stand_in}") or _LACKS["StandInError"],
        location=line_of_refusal(checkable, search),
    )


def _lacking_by_message(
    checkable: Checkable, settings: Settings, search: SearchResult
) -> NoCase | None:
    """Explain by the message with which forward itself refused the arguments."""
    hint = hint_of_message(settings, search.objection)
    if hint is None and settings.device == "cpu" and _is_beside_cuda(checkable, search):
        hint = _ON_CUDA
    if search.doubt is not None or hint is None:
        return None
    return NoCase(
        f"forward cannot run here: {search.objection}",
        hint=hint,
        detail=refusals_of(search),
        location=line_of_refusal(checkable, search),
    )


def lacking_in_backward(checkable: Checkable, settings: Settings, trial: Trial) -> NoCase | None:
    """Explain that backward uses what is not there, or asks for CUDA, for what forward accepts."""
    if trial.gap:
        error, _, message = trial.gap.partition(": ")
        line = trial.gap_line
        return NoCase(
            f"backward cannot run here: {message}",
            hint=_hint_of_gap(trial.gap, error),
            location=Location(path=checkable.location.path, line=line) if line else None,
        )
    doubt = "" if trial.backward else trial.doubt or ""
    is_of_cuda = settings.device == "cpu" and bool(_NEEDS_CUDA.search(doubt))
    if not (is_of_cuda and doubt.startswith(IN_BACKWARD)):
        return None
    raised = doubt.removeprefix(IN_BACKWARD)
    return NoCase(f"backward cannot run here: {raised}", hint=_ON_CUDA)


def _hint_of_gap(objection: str, error: str) -> str:
    return _install(objection) or _LACKS.get(error, _LACKS[EngineLacksError.__name__])


def hint_of_message(settings: Settings, objection: str) -> str | None:
    """Say what to do if the message of a refusal is about the environment; None if it is not."""
    if variable := _ENVIRONMENT.search(objection):
        return f"set {variable[1]}={variable[2]} in the environment of gradtool"
    if settings.device == "cpu" and _NEEDS_CUDA.search(objection):
        return _ON_CUDA
    if _NAMES_LACKING.search(objection):
        return _LACKS[EngineLacksError.__name__]
    if _SAYS_LACKING.search(objection):
        return "install what the message names in the environment that runs gradtool"
    if missing := _MISSING.match(objection):
        return f"install the optional dependency that provides `{missing[1]}`"
    return None


_ON_CUDA = "it needs CUDA: check it with --device cuda on a machine that has a GPU"


def _is_beside_cuda(checkable: Checkable, search: SearchResult) -> bool:
    """Return True if the likeliest arguments were refused in the ``else`` of ``if x.is_cuda:``."""
    tree, _ = module_source(checkable.obj)
    line = search.reached[-1] if search.reached else 0
    return any(
        "cuda" in ast.unparse(each.test)
        and any(isinstance(other, ast.Raise) and other.lineno == line for other in each.orelse)
        for each in (ast.walk(tree) if tree else ())
        if isinstance(each, ast.If)
    )


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

_SAYS_LACKING = re.compile(
    r"\bpip install\b|\b(is|are) not (available|installed|built)\b"
    r"|\b\w+ (is|are) required( for|\.|$)"
)
"""Matches the refusal of arguments by a Function that needs an optional package."""

_NAMES_LACKING = re.compile(r"<torch\.[^<>]*, which is missing from gradtool's engine>")
"""Matches the refusal of arguments because of a value that a missing name of PyTorch gave."""

_MISSING = re.compile(r"(?:NameError: name|ModuleNotFoundError: No module named) '([\w.]+)'")
"""Matches the refusal of arguments by a Function that uses what its module could not import."""


def needed_by_callers(search: SearchResult) -> str | None:
    """Say how to get what alone keeps the callers of a Function from showing its arguments."""
    refusals = [each.partition(": ")[2] for each in search.callers]
    for pattern, advice in _NEEDS.items():
        matches = (pattern.match(each) for each in refusals)
        found = {match[1] if match else None for match in matches}
        if len(found) == 1 and (needed := found.pop()):
            return advice.format(needed)
    return None


def refusals_of(search: SearchResult) -> str:
    """Each reason for which arguments were refused, and why each caller gave none, by line."""
    refusals = [f"{count} x {reason}" for reason, count in search.refusals.most_common()]
    return "\n".join([*refusals, *(f"tried through {each}" for each in search.callers)])


def line_of_refusal(checkable: Checkable, search: SearchResult) -> Location | None:
    """The user's line that refused the likeliest arguments; None if it is not one of the file."""
    line = search.reached[-1] if search.reached else 0
    if not 0 < line < BEYOND_LINES or BEYOND_LINES in search.reached:
        return None
    return Location(path=checkable.location.path, line=line)


def _not_imported(checkable: Checkable, search: SearchResult) -> str | None:
    """Name what forward calls or asserts to be there, and what is None for want of an import."""
    asserted = _ASSERTS_SOME.search(search.objection)
    if search.doubt is not None or not (asserted or _CALLS_NONE.search(search.objection)):
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
    if asserted:
        named = {asserted[1]} & imported
    else:
        line = search.reached[-1] if search.reached else 0
        refused = (each for each in nodes if isinstance(each, ast.stmt) and each.lineno == line)
        named = {name for each in refused for name in _called(each) & imported}
    return next((name for name in sorted(named) if known.get(name, "") is None), None)


_ASSERTS_SOME = re.compile(r"AssertionError: assert (\w+) is not None")
"""Matches the refusal where a name is None."""

_CALLS_NONE = re.compile("'NoneType' object (is not callable|has no attribute)")
"""Matches the refusal of what calls None, or a function of it."""


def _called(statement: ast.stmt) -> set[str]:
    """The names that a statement calls, or of which it calls a function."""
    calls = (each.func for each in ast.walk(statement) if isinstance(each, ast.Call))
    owners = (each.value if isinstance(each, ast.Attribute) else each for each in calls)
    return {each.id for each in owners if isinstance(each, ast.Name)}


def _refused_line(checkable: Checkable, search: SearchResult) -> tuple[str, dict[str, Any]]:
    """The text of the line that refused the likeliest arguments, and the globals of forward."""
    line = search.reached[-1] if search.reached else 0
    forward = inspect.unwrap(forward_of(checkable.obj))
    return linecache.getline(str(checkable.file), line), getattr(forward, "__globals__", {})


def _stand_in_of(checkable: Checkable, search: SearchResult) -> str | None:
    """Say what is lacking if forward asks for an object of a class that a stand-in replaces."""
    text, known = _refused_line(checkable, search)
    asked = [known.get(name) for name in _ASKS_FOR_CLASS.findall(text)]
    if OF_VALUE.search(search.objection):
        notes = [each.annotation for each in checkable.parameters()]
        asked += [evaluated(each, known) if isinstance(each, str) else each for each in notes]
    stand_ins = (value for value in asked if isinstance(value, Placeholder) and value._is_name())
    found = next(stand_ins, None) if search.doubt is None else None
    return None if found is None else str(found._error())


_ASKS_FOR_CLASS = re.compile(r"\bisinstance\([^,]+,\s*(\w+)")
"""Matches the line that refuses an object, with the class that it should have."""

OF_VALUE = re.compile(r"'(Tensor|bool|int|float|str|list|dict|NoneType)' object has no attribute")
"""Matches the refusal of a value that inference tried in place of an object."""


def _install(objection: str) -> str | None:
    """Name the package to install, where a name of one that is missing was used."""
    found = _NOT_INSTALLED.match(objection)
    return f"install `{found[1]}` in the environment that runs gradtool" if found else None


_NOT_INSTALLED = re.compile(r"StandInError: (\w+)[\w.]* is not installed")

_NO_FILE = re.compile(r"FileNotFoundError: .*No such file or directory: '(?:.*/)?([^'/]+)'")

_NEEDS = {_NOT_INSTALLED: "install `{}`", _NO_FILE: "add the file `{}`"}
"""How to get what a refusal names."""
