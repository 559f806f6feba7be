"""A function that has many edits in it, one of which is chosen before it is called.

To compile a function anew for each edit takes longer than to run it. Here, only the statements
that an edit changes are compiled for it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from typing import Any

from gradtool.adapters.common.alterations.edits import STANDINS, replaced
from gradtool.adapters.common.alterations.omissions import Edit

_BLOCKS = ("body", "orelse", "finalbody")


def switched(tree: ast.FunctionDef, edits: Mapping[int, Edit]) -> ast.FunctionDef:
    """Return a function that runs with the edit whose number is the ``chosen`` one of `STANDINS`.

    Args:
        tree: Its definition.
        edits: The edits by their numbers.
    """
    owners = dict(_owners(tree))
    own: dict[ast.AST, dict[int, Edit]] = {}
    for number, edit in edits.items():
        for node in edit.changes:
            own.setdefault(owners[node], {})[number] = edit
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


def _switched(statement: ast.stmt, own: Mapping[ast.AST, Mapping[int, Edit]]) -> ast.stmt:
    plain = _with_switched_blocks(statement, own)
    edits = own.get(statement)
    if not edits:
        return plain
    others: list[ast.stmt] = [
        ast.If(_is_chosen(ast.Eq(), number), [_edited(statement, edit)], [])
        for number, edit in edits.items()
    ]
    return ast.If(_is_chosen(ast.In(), frozenset(edits)), others, [plain])


def _edited(statement: ast.stmt, edit: Edit) -> ast.stmt:
    changes = edit.changes
    return changes[statement] if statement in changes else replaced(statement, changes)  # type: ignore[return-value]


def _with_switched_blocks(
    statement: ast.stmt, own: Mapping[ast.AST, Mapping[int, Edit]]
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
