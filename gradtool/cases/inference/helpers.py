"""Helpers: the functions that forward calls, of its module, of its class or imported by name."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Mapping
from typing import Any

import msgspec

from gradtool.adapters.common.parsed_source import own_source


class Helper(msgspec.Struct, frozen=True):
    """A function that forward calls."""

    node: ast.FunctionDef
    text: str
    """Its source, with comments."""


def helpers_of(
    forward: ast.AST, cls: ast.ClassDef, module: ast.Module, text: str, namespace: Mapping[str, Any]
) -> dict[str, Helper]:
    """The functions that forward calls, by the expressions that it calls them by.

    Args:
        forward: The method that calls them.
        cls: The class that it is defined in.
        module: The module around that.
        text: The source of the module.
        namespace: The globals of forward.
    """
    own = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)}
    own |= {f"{cls.name}.{e.name}": e for e in cls.body if isinstance(e, ast.FunctionDef)}
    found = {}
    for call in ast.walk(forward):
        name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
        if name in own:
            found[name] = Helper(own[name], ast.get_source_segment(text, own[name]) or "")
        elif inspect.isfunction(namespace.get(name)) and (made := _imported(namespace[name])):
            found[name] = made
    return found


def _imported(function: Any) -> Helper | None:
    text, node = definition(function)
    return Helper(node, text) if isinstance(node, ast.FunctionDef) else None


def definition(function: Any) -> tuple[str, ast.stmt | None]:
    """The source of a function, and its statement; None without source.

    The statement has no annotations of variables.
    """
    try:
        text, tree = own_source(inspect.unwrap(function))
        return text, _Unannotated().visit(copy.deepcopy(tree.body[0]))
    except (OSError, TypeError, SyntaxError, IndexError, ValueError):
        return "", None


class _Unannotated(ast.NodeTransformer):
    """Writes ``solver = ctx.solver`` for ``solver: Solver = ctx.solver``."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Leave the annotation out, if the statement assigns a value."""
        if node.value is None:
            return node
        return ast.copy_location(ast.Assign([node.target], node.value), node)
