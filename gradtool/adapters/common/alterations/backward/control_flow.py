"""Repairs of conditions and loops: the other branch is taken, or a loop has more rounds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.trees import parsed

_LONGER = (8, 64)
"""Multiples of the rounds of an iteration, twice so that the error is seen to shrink."""


def conditions(backward: Backward) -> Iterator[Repair]:
    """Take the other branch, or always the same one."""
    for node in ast.walk(backward.tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            test = node.test
            yield Repair(test, ast.UnaryOp(ast.Not(), test), test)
            for value in (True, False) if not isinstance(node, ast.While) else ():
                words = f"the condition `{ast.unparse(test)}` always {str(value).lower()}"
                yield Repair(test, ast.Constant(value), test, words=words)


def longer_loops(backward: Backward) -> Iterator[Repair]:
    """Let an iteration have more rounds, of which a better start would need fewer."""
    for loop in ast.walk(backward.tree):
        match loop:
            case ast.For(
                target=ast.Name(id="_"),
                iter=ast.Call(func=ast.Name(id="range") as func, args=[ast.Name(id=name)]) as node,
            ):
                for scale in _LONGER:
                    longer = ast.Call(func, [parsed(f"{scale} * {name}")], [])
                    yield Repair(node, longer, node, scale=scale)
