"""The expressions of a backward that a repair may replace, each with the one around it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from gradtool.adapters.common.alterations.backward.repair import Place
from gradtool.adapters.common.alterations.held import variables


def expressions(tree: ast.FunctionDef) -> Iterator[Place]:
    """Yield the expressions that a body computes, each with the one around it.

    The keys of a cache are left: with another key, any value is computed anew.
    """
    keys, names = _looked_up(tree), frozenset(variables(tree))
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and _stored(statement) & keys:
            continue
        around = {c: parent for parent in ast.walk(statement) for c in ast.iter_child_nodes(parent)}
        for child, parent in around.items():
            if isinstance(child, ast.expr) and _is_value(parent, child, names):
                yield child, _around(child, around)


def results(tree: ast.FunctionDef) -> Iterator[Place]:
    """Yield the expressions that are returned, or that variables are set to."""
    for node in ast.walk(tree):
        match node:
            case ast.Return(value=ast.Tuple(elts=elts)):
                yield from ((each, each) for each in elts)
            case ast.Return(value=ast.expr() as value) | ast.Assign(value=value):
                yield value, value


def _looked_up(tree: ast.FunctionDef) -> set[str]:
    """The variables that the body looks up, as in ``if key not in cache``."""
    return {
        node.left.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn)
        if isinstance(node.left, ast.Name)
    }


def _stored(statement: ast.Assign) -> set[str]:
    return {each.id for each in statement.targets if isinstance(each, ast.Name)}


def _around(child: ast.expr, around: Mapping[ast.AST, ast.AST]) -> ast.AST:
    """The node to show of a change: a number says nothing without its statement."""
    parent = around[child]
    if isinstance(child, ast.Constant | ast.Slice):
        while isinstance(parent, ast.UnaryOp | ast.Tuple) and parent in around:
            parent = around[parent]
    if isinstance(parent, ast.Attribute) and isinstance(around.get(parent), ast.Call):
        return around[parent]
    shows = (ast.expr, ast.Assign) if isinstance(child, ast.Constant) else ast.expr
    return parent if isinstance(parent, shows) and not isinstance(parent, ast.Tuple) else child


def _is_value(parent: ast.AST, child: ast.expr, names: Collection[str]) -> bool:
    """Return True for what is computed: no target, no name of a function or module."""
    if isinstance(getattr(child, "ctx", None), ast.Store | ast.Del):
        return False
    if isinstance(parent, ast.Attribute) and isinstance(child, ast.Name):
        return child.id in names
    return not (isinstance(parent, ast.Call) and parent.func is child)
