"""Parameters that forward unpacks from its ``*args``, by the names that it gives them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any

from gradtool.cases.inference.candidates import Parameters
from gradtool.cases.inference.helpers import definition
from gradtool.cases.inference.roles import number_for

_KIND = inspect.Parameter.POSITIONAL_ONLY


def unpacked(function: Any, parameters: Parameters) -> tuple[Parameters, Mapping[str, Any]]:
    """Expand ``*args`` to the names of ``x, scale, (low, high) = args``.

    Returns:
        The parameters, and values of those that are tuples of numbers themselves.
    """
    starred = next((each for each in parameters if each.kind is each.VAR_POSITIONAL), None)
    _, node = definition(getattr(function, "forward", function))
    targets = _targets(node, starred.name) if starred and node else []
    if not targets or starred is None:
        return parameters, {}
    at = parameters.index(starred)
    single, values = [], {}
    for number, target in enumerate(targets):
        is_named = isinstance(target, ast.Name) and not target.id.startswith("_")
        name = target.id if isinstance(target, ast.Name) and is_named else f"args_{number}"
        single.append(starred.replace(name=name, kind=_KIND))
        if isinstance(target, ast.Tuple):
            values[name] = {"literal": tuple(_numbers(target))}
    return (*parameters[:at], *single, *parameters[at + 1 :]), values


def _targets(node: ast.AST, name: str) -> list[ast.expr]:
    """The targets that the tuple of arguments is unpacked to, none of them starred."""
    for found in ast.walk(node):
        match found:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Name(id=source)) if (
                source == name and not any(isinstance(each, ast.Starred) for each in targets)
            ):
                return targets
    return []


def _numbers(target: ast.Tuple) -> list[float]:
    names = [each.id if isinstance(each, ast.Name) else "" for each in target.elts]
    return [number_for(name.strip("_").lower()) for name in names]
