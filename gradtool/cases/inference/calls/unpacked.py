"""Parameters in place of ``*args``: those that forward unpacks, passes on or takes by position."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.cases.inference.candidates import Parameters
from gradtool.cases.inference.helpers import definition
from gradtool.cases.inference.roles import number_for

_KIND = inspect.Parameter.POSITIONAL_ONLY

_FEW = 3
"""Arguments in place of ``*args`` that are tried without a sign of their number."""


def unpacked(function: Any, parameters: Parameters) -> tuple[Parameters, Mapping[str, Any]]:
    """Expand ``*args`` to the names of ``x, scale, (low, high) = args``, or up to ``args[7]``.

    ``*tensors, mode = args`` gives one argument in place of the tensors, and the mode.

    Or to those of the parameters that ``solve(x, *args)`` has behind ``x``.

    Returns:
        The parameters, and values of those that are tuples of numbers themselves, or of which
        ``args[7].item()`` takes the only entry.
    """
    starred = next((each for each in parameters if each.kind is each.VAR_POSITIONAL), None)
    _, node = definition(forward_of(function))
    targets = _targets(node, starred.name) if starred and node else []
    if starred and node and not targets:
        targets = _positions(node, starred.name) or list(_passed_on(function, node, starred.name))
    if not targets or starred is None:
        return parameters, {}
    at = parameters.index(starred)
    single = []
    values: dict[str, Any] = {}
    scalars = _scalars(node, starred.name) if node else set()
    for number, target in enumerate(targets):
        is_named = isinstance(target, ast.Name) and not target.id.startswith("_")
        name = target.id if isinstance(target, ast.Name) and is_named else f"args_{number}"
        single.append(starred.replace(name=name, kind=_KIND))
        if isinstance(target, ast.Tuple):
            values[name] = {"literal": tuple(_numbers(target))}
        elif number in scalars:
            values[name] = {"shape": []}
    return (*parameters[:at], *single, *parameters[at + 1 :]), values


def _targets(node: ast.AST, name: str) -> list[ast.expr]:
    """The targets that the tuple of arguments is unpacked to, one in place of a starred one."""
    for found in ast.walk(node):
        match found:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Name(id=source)) if (
                source == name
            ):
                return [
                    ast.Name("_") if isinstance(each, ast.Starred) else each for each in targets
                ]
    return []


def _positions(node: ast.AST, name: str) -> list[ast.expr]:
    """A target without a name for each position up to the last of ``args[0]`` to ``args[7]``."""
    found = [_position(each, name) for each in ast.walk(node)]
    count = 1 + max((at for at in found if at is not None), default=-1)
    return [ast.Name("_") for _ in range(count)] if count > _FEW else []


def _passed_on(function: Any, node: ast.AST, name: str) -> Iterator[ast.expr]:
    """Yield the parameters that ``solve(x, *args)`` fills, if it is a function of the module."""
    namespace = getattr(inspect.unwrap(function.forward), "__globals__", {})
    for found in ast.walk(node):
        match found:
            case ast.Call(
                func=ast.Name(id=called), args=[*before, ast.Starred(value=ast.Name(id=given))]
            ) if given == name and isinstance(namespace.get(called), FunctionType):
                yield from map(ast.Name, _after(namespace[called], len(before)))
                return


def _after(function: FunctionType, count: int) -> list[str]:
    """The names of the parameters after so many; none if their number is not fixed."""
    own = list(inspect.signature(function).parameters.values())[count:]
    is_fixed = all(each.kind is each.POSITIONAL_OR_KEYWORD for each in own)
    return [each.name for each in own] if is_fixed else []


def _scalars(node: ast.AST, name: str) -> set[int | None]:
    """The positions whose only entry is taken."""
    taken = (each for each in ast.walk(node) if isinstance(each, ast.Attribute))
    return {_position(each.value, name) for each in taken if each.attr == "item"}


def _position(node: ast.AST, name: str) -> int | None:
    """The position that ``name[7]`` takes; None for anything else."""
    match node:
        case ast.Subscript(value=ast.Name(id=taken), slice=ast.Constant(value=int(at))):
            return at if taken == name else None
    return None


def _numbers(target: ast.Tuple) -> list[float]:
    names = [each.id if isinstance(each, ast.Name) else "" for each in target.elts]
    return [number_for(name.strip("_").lower()) for name in names]
