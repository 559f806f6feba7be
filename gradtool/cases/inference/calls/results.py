"""Attributes that forward takes of what the user's functions and objects return."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.cases.inference.helpers import definition
from gradtool.cases.inference.operators import is_of_tensor

ITSELF = ""
"""In place of the name of a method, for an argument that is called itself."""


def attributes_of_results(
    function: Any, names: Collection[str]
) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The attributes of results that no tensor has, by argument and by its method.

    For ``solution = solver.solve(y); return solution.ys``, that is ``ys`` of ``solve``.
    """
    node = definition(forward_of(function))[1]
    nodes = list(ast.walk(node)) if node is not None else []
    made = {name: of for each in nodes for name, of in _assigned(each, names)}
    taken: dict[str, dict[str, set[str]]] = {}
    for each in nodes:
        match each:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in made:
                if not is_of_tensor(attribute):
                    argument, method = made[name]
                    taken.setdefault(argument, {}).setdefault(method, set()).add(attribute)
    return {
        argument: {method: tuple(sorted(each)) for method, each in methods.items()}
        for argument, methods in taken.items()
    }


def _assigned(node: ast.AST, names: Collection[str]) -> list[tuple[str, tuple[str, str]]]:
    """The name that a statement assigns the result of an argument to, with that and its method."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=owner))):
            return [(name, (owner, ITSELF))] if owner in names else []
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)),
        ):
            return [(name, (owner, method))] if owner in names else []
    return []
