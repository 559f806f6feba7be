"""Repairs of what a forward keeps for backward, and the names under which it does.

A tensor that is kept and changed in place later, or another variable in its place, makes a right
formula wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.definitions import definition, functions_of
from gradtool.adapters.common.alterations.held import variables
from gradtool.adapters.common.alterations.shown_code import shortened
from gradtool.adapters.common.alterations.trees import method_call, replaced
from gradtool.verify.thresholds.edits import KEPT_MOST_OTHERS


def kept_on_context(cls: type[Any] | None) -> list[str]:
    """Return the names of what forward and ``setup_context`` keep on ctx."""
    found: dict[str, None] = {}
    for name in ("forward", "setup_context"):
        for function in functions_of(getattr(cls, name))[:1]:
            tree = definition(function)
            for node in ast.walk(tree) if tree else ():
                match node:
                    case ast.Attribute(value=ast.Name(id="ctx"), attr=attr, ctx=ast.Store()):
                        found[attr] = None
    return list(found)


def kept_by_forward(tree: ast.FunctionDef) -> Iterator[Repair]:
    """Yield the repairs of what a forward, or ``setup_context``, keeps."""
    places, names = list(_kept(tree)), variables(tree)
    for node in places:
        yield _repair(node, method_call(node, "clone"))
    others = [
        _repair(node, ast.Name(name, ast.Load()))
        for node in places
        for name in names
        if ast.unparse(node) != name
    ]
    yield from others[:KEPT_MOST_OTHERS]
    for node in places:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part is not node:
                for name in names:
                    made = replaced(node, {part: ast.Name(name, ast.Load())})
                    yield _repair(node, made)


def _repair(node: ast.expr, made: ast.expr) -> Repair:
    both = ast.unparse(node), ast.unparse(made)
    code, other = shortened(*both), shortened(*reversed(both))
    words = f"`{other}` kept by forward in place of `{code}`"
    return Repair(node, made, node, words=words)


def _kept(tree: ast.FunctionDef) -> Iterator[ast.expr]:
    """The expressions that are kept: saved, set on ctx, or appended to a list."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="append" | "save_for_backward"), args=args):
                yield from (each for each in args if not isinstance(each, ast.Starred))
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="ctx"))], value=value):
                yield value
