"""A function with many changes in it, one of which is chosen before it is called.

To compile a function anew for each change takes longer than to run it. Here, only the statements
that are changed are compiled once more.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from typing import Any

from gradtool.adapters.common.alterations.altered_code import STANDINS
from gradtool.adapters.common.alterations.trees import replaced

Changes = Mapping[ast.AST, ast.AST]
"""Nodes of a tree, each with what stands in its place."""

_BLOCKS = ("body", "orelse", "finalbody")


def switched(tree: ast.FunctionDef, changes: Mapping[int, Changes]) -> ast.FunctionDef:
    """Return a function that runs with the changes whose number is ``chosen`` of `STANDINS`.

    Args:
        tree: Its definition.
        changes: What may be changed together, by its number.
    """
    owners = dict(_owners(tree))
    own: dict[ast.AST, dict[int, Changes]] = {}
    for number, each in changes.items():
        for node in each:
            own.setdefault(owners[node], {})[number] = each
    made = copy.copy(tree)
    made.body = [_switched(each, own) for each in tree.body]
    return made


def _owners(tree: ast.AST, owner: ast.AST | None = None) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield each node with the innermost statement that it is, or is a part of."""
    for child in ast.iter_child_nodes(tree):
        own = child if isinstance(child, ast.stmt) else owner
        if own is not None:
            yield child, own
        yield from _owners(child, own)


def _switched(statement: ast.stmt, own: Mapping[ast.AST, Mapping[int, Changes]]) -> ast.stmt:
    plain = _with_switched_blocks(statement, own)
    changes = own.get(statement)
    if not changes:
        return plain
    others: list[ast.stmt] = [
        ast.If(_is_chosen(ast.Eq(), number), [_changed(statement, each)], [])
        for number, each in changes.items()
    ]
    return ast.If(_is_chosen(ast.In(), frozenset(changes)), others, [plain])


def _changed(statement: ast.stmt, changes: Changes) -> ast.stmt:
    # What stands in the place of a statement is one, which the types do not say.
    return changes[statement] if statement in changes else replaced(statement, changes)  # type: ignore[return-value]


def _with_switched_blocks(
    statement: ast.stmt, own: Mapping[ast.AST, Mapping[int, Changes]]
) -> ast.stmt:
    made = copy.copy(statement)
    for block in _BLOCKS:
        inside = getattr(statement, block, None)
        if isinstance(inside, list):
            setattr(made, block, [_switched(each, own) for each in inside])
    return made


def _is_chosen(op: ast.cmpop, numbers: Any) -> ast.Compare:
    chosen = ast.Attribute(ast.Name(STANDINS, ast.Load()), "chosen", ast.Load())
    return ast.Compare(chosen, [op], [ast.Constant(numbers)])
