"""Variables of forward that are views of its arguments, or parts of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.explore.reading.source import nodes


def viewed(node: ast.AST) -> str:
    """Return the name of what an expression is a view of, as `x` is of ``x.flatten(1)[0]``."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr="T" | "mT"):
            return viewed(value)
        case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(value=value)):
            return viewed(value)
    return ""


def wholes(function: Any) -> dict[str, str]:
    """Return what each variable that is a part of another one is a part of.

    As `pairs` for `i` and `j` in ``i, j = pairs[:, 0], pairs[:, 1]``.
    """
    forward = forward_of(function)
    return {
        target.id: viewed(value)
        for node in nodes(forward)
        if isinstance(node, ast.Assign)
        for target, value in _assigned(node.targets[0], node.value)
        if isinstance(target, ast.Name) and viewed(value) not in ("", target.id)
    }


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment, each with its value or with that of all of them."""
    match target, value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            yield from zip(targets, values, strict=False)
        case ast.Tuple(elts=targets), _:
            yield from ((each, value) for each in targets)
        case _:
            yield target, value
