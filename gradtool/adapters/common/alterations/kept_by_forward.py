"""Edits of what a forward keeps for backward.

A tensor that is kept and changed in place later, or another variable in its place, makes a right
formula wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.altered_code import shortened
from gradtool.adapters.common.alterations.edits import replaced
from gradtool.adapters.common.alterations.held import variables
from gradtool.adapters.common.alterations.omissions import Edit
from gradtool.verify.thresholds.edits import KEPT_MOST_OTHERS


def kept_by_forward(tree: ast.FunctionDef) -> Iterator[Edit]:
    """Yield the edits of what a forward, or ``setup_context``, keeps."""
    places, names = list(_kept(tree)), variables(tree)
    for node in places:
        yield _edit(node, ast.Call(ast.Attribute(node, "clone", ast.Load()), [], []))
    others = [
        _edit(node, ast.Name(name, ast.Load()))
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
                    yield _edit(node, made)


def _edit(node: ast.expr, made: ast.expr) -> Edit:
    both = ast.unparse(node), ast.unparse(made)
    code, other = shortened(*both), shortened(*reversed(both))
    words = f"`{other}` kept by forward in place of `{code}`"
    return Edit(node, made, node, words=words)


def _kept(tree: ast.FunctionDef) -> Iterator[ast.expr]:
    """The expressions that are kept: saved, set on ctx, or appended to a list."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="append" | "save_for_backward"), args=args):
                yield from (each for each in args if not isinstance(each, ast.Starred))
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="ctx"))], value=value):
                yield value
