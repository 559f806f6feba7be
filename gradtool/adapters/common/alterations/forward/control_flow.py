"""Edits of branches and loops: another branch is taken, or few turns are differentiated."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.adapters.common.alterations.forward.edit import Computed, Edit, Forward
from gradtool.adapters.common.alterations.trees import inside

_TURNS = (1, 2, 3)
"""Turns before the end of a loop, from which on a backward may start."""


def branches(forward: Forward) -> Iterator[Edit]:
    """Yield the edits by which the other branch is taken."""
    for node in ast.walk(forward.tree):
        if isinstance(node, ast.If | ast.IfExp):
            negated = ast.UnaryOp(ast.Not(), node.test)
            yield Edit("branch", node.test, negated, node.test, "")


def branches_of_entries(computed: Computed) -> Iterator[Edit]:
    """Exchange the two branches of a condition on each entry."""
    for node in inside(computed.value):
        match node:
            case ast.Call(func=ast.Attribute(attr="where") as function, args=[test, one, other]):
                made = ast.Call(function, [test, other, one], [])
                yield Edit("exchanged", node, standin("kept", made, node), test, "")


def turns(forward: Forward) -> Iterator[Edit]:
    """Hold constant what a turn takes over from the one before, some turns before the end."""
    loops = (node for node in ast.walk(forward.tree) if isinstance(node, ast.For | ast.While))
    for number, node in enumerate(loops):
        carried = sorted(_names(node, ast.Store) & _names(node, ast.Load))
        for before_end in _TURNS if carried else ():
            test = standin("is_turn", ast.Constant(number), ast.Constant(before_end))
            held: list[ast.stmt] = [_held(each) for each in carried]
            made = copy.copy(node)
            made.body = [ast.If(test, held, []), *node.body]
            yield Edit("turns", node, made, node, str(before_end))


def _held(name: str) -> ast.Assign:
    value = standin("constant", ast.Name(name, ast.Load()))
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _names(loop: ast.For | ast.While, use: type[ast.expr_context]) -> set[str]:
    named = (n for each in loop.body for n in ast.walk(each) if isinstance(n, ast.Name))
    return {name.id for name in named if isinstance(name.ctx, use)}
