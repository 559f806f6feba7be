"""The slice of a module that its Functions need: their classes and the names these reach.

It is imported where the whole module cannot be. All else is blanked, so that lines keep their
numbers.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from gradtool.collect.declared import declared_functions
from gradtool.collect.replacement import bound_names, first_line

_LEVELS = 3
"""Calls between a function of the module and a Function that it leads to."""


def sliced(
    source: bytes, tree: ast.Module, named: Iterable[str] = (), *, with_callers: bool = False
) -> bytes | None:
    """Cut a source down to what its Functions, and the `named` callables, need.

    A statement is kept if it binds a name that a kept one uses, or changes what such a name holds.
    None if there is no Function.

    Args:
        source: The source of the module.
        tree: Its tree.
        named: Callables to keep.
        with_callers: Keep functions and classes that lead to a Function, too: they show arguments.
    """
    # A base that comes from elsewhere may be a Function.
    declared = declared_functions(tree) or declared_functions(
        tree, lambda base: not hasattr(builtins, base)
    )
    wanted = {each.name.partition(".")[0] for each in declared}
    wanted |= {name.partition(".")[0] for name in named}
    if not wanted:
        return None
    kept = _reached(tree, _with_callers(tree, wanted) if with_callers else wanted)
    lines = source.split(b"\n")
    for statement in tree.body:
        if statement not in kept:
            first = first_line(statement)
            last = statement.end_lineno or statement.lineno
            lines[first - 1 : last] = [b""] * (last - first + 1)
    return b"\n".join(lines)


def _with_callers(tree: ast.Module, wanted: set[str]) -> set[str]:
    """The names, and those of the functions and classes that use them, or that use these."""
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    defined = {each.name: _used(each) for each in tree.body if isinstance(each, kinds)}
    names = set(wanted)
    for _ in range(_LEVELS):
        names |= {name for name, used in defined.items() if used & names}
    return names


def _reached(tree: ast.Module, wanted: set[str]) -> list[ast.stmt]:
    """The statements that define the names `wanted` and all that they use."""
    uses = {statement: _used(statement) for statement in tree.body}
    binds = {statement: bound_names(statement) | _changed(statement) for statement in tree.body}
    bound = set().union(*binds.values()) if binds else set()
    kept = [each for each in tree.body if _is_always_kept(each)]
    names = set(wanted)
    grown = True
    while grown:
        grown = False
        for statement in tree.body:
            if statement in kept:
                continue
            is_needed = bool(binds[statement] & names) and not isinstance(statement, ast.Expr)
            if is_needed or (_is_star(statement) and names - bound):
                kept.append(statement)
                names |= uses[statement]
                grown = True
    return kept


def _is_always_kept(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _is_star(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"


def _used(statement: ast.stmt) -> set[str]:
    """The names that a statement reads, in any scope below it."""
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _changed(statement: ast.stmt) -> set[str]:
    """The names whose items or attributes an assignment sets."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    found = set()
    for target in targets:
        while isinstance(target, ast.Attribute | ast.Subscript):
            target = target.value
        if isinstance(target, ast.Name):
            found.add(target.id)
    return found
