"""Explanations of why no arguments of a Function were found, with what to do about it."""

from __future__ import annotations

import itertools
import re

from gradtool.adapters.common.binding import parameter_in_place_of_ctx
from gradtool.cases.advice import how_to_give_a_case
from gradtool.cases.arguments import bind_arguments, show_arguments
from gradtool.cases.drawn import draw
from gradtool.cases.inference.search import SearchResult
from gradtool.cases.inference.trials import rerun_forward
from gradtool.cases.lacking import (
    OF_VALUE,
    hint_of_message,
    lacking,
    line_of_refusal,
    needed_by_callers,
    refusals_of,
)
from gradtool.collect.checkable import Checkable
from gradtool.collect.discovery import function_location
from gradtool.config.schema import CaseConfig
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import NoCase
from gradtool.sandbox import debugger
from gradtool.verify.demanded_dtype import asks_for_single


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
    """Explain that a search found no arguments, and say what to add.

    Where something is lacking, no other arguments would help. Else they are the user's to give.
    """
    return lacking(checkable, settings, search) or NoCase(
        _outcome(checkable, settings, search),
        hint=hint_of_message(settings, search.objection) or _how_to_go_on(checkable, search),
        detail=refusals_of(search),
        location=line_of_refusal(checkable, search),
    )


def _how_to_go_on(checkable: Checkable, search: SearchResult) -> str | None:
    """Say how to give a case, unless the parameters are wrong or a caller would show them."""
    first = parameter_in_place_of_ctx(checkable.obj)
    if first is not None:
        return f"`{first}` gets the ctx of forward: {_ADD_CTX}"
    hint = how_to_give_a_case(checkable, search)
    if hint and (needed := needed_by_callers(search)):
        hint = f"{needed}, which a caller of it needs to show its arguments; or {hint}"
    if hint and asks_for_single(search.objection):
        hint = f"if it takes float32 alone, add `dtype: float32` to its tensors; {hint}"
    return hint


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
    is_only = len(search.objects) == 1 and OF_VALUE.search(search.objection)
    stood_for = search.objects if is_only or _OF_STAND_IN.search(search.objection) else ()
    name = next(itertools.chain(named, stood_for), None)
    return None if name is None else f"`{name}`, {search.objects[name].kind}"


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


_LACKS_ATTRIBUTE = re.compile(r"object has no attribute '(\w+)'")
"""Matches the refusal of arguments of which one is no object of the kind that it should be."""

_OF_STAND_IN = re.compile(r"\b(Operator|SimpleNamespace)\b")
"""Matches the refusal of an object that inference made."""
