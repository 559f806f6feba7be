"""Calls that have to come before a Function, as the message of a refusal says.

``cache not found - call prepare_plan first`` names a function of the package, such as one that
fills a cache for the sizes at hand.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_ASKS_FOR_CALL = re.compile(
    r"\b(?:call|run|use) `?(?:\w+\.)*(?P<name>\w+)`?(?:\(\))?`? (?:first|before|beforehand)\b",
    re.IGNORECASE,
)


def preparation(
    function: Any, objection: str, values: Mapping[str, str], extent: int | None
) -> list[str]:
    """The lines of code that import and call what an objection asks to call first.

    Args:
        function: The Function that objects.
        objection: Its message.
        values: The code of its arguments by name, which the call shares.
        extent: The last extent of its first tensor, for an integer that it does not share.
    """
    found = _ASKS_FOR_CALL.search(objection)
    named = next(_named(function, found["name"]), None) if found else None
    if named is None:
        return []
    start = {name: str(extent) for name in _integers(named) if extent is not None}
    code = {**start, **values}
    given = ", ".join(f"{name}={code.get(name, '...')}" for name in _required(named))
    module = named.__module__
    return [f"from {module} import {named.__name__}", f"{named.__name__}({given})"]


def _named(function: Any, name: str) -> Iterator[Callable[..., Any]]:
    """Yield the functions of a name in the package of a Function, its own module first."""
    own = inspect.unwrap(getattr(function, "forward", function)).__module__
    package = own.partition(".")[0]
    inside = (each for each in list(sys.modules) if each.partition(".")[0] == package)
    for module in (own, *inside):
        found = getattr(sys.modules.get(module), name, None)
        if inspect.isfunction(found):
            yield found


def _required(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the names of the parameters that have no default."""
    for name, parameter in inspect.signature(function).parameters.items():
        single = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if single and parameter.default is parameter.empty:
            yield name


def _integers(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the names of the parameters that are annotated as integers."""
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.annotation in (int, "int"):
            yield name
