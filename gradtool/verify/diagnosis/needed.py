"""Gradients that backward computes only if another input needs one: a mixed-up index.

``if ctx.needs_input_grad[0]: grad_y = ...``, where ``grad_y`` is returned at position 1.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

import msgspec

from gradtool.verify.diagnosis.methods import method_trees, returned
from gradtool.verify.protocol.observation import SourceLine

_FLAGS = "needs_input_grad"


class Misplaced(msgspec.Struct, frozen=True):
    """A gradient that depends on the flags of other inputs only."""

    line: int
    position: int
    """The position at which the gradient is returned."""
    asked: tuple[int, ...]
    """The flags that it depends on."""


def misplaced(lines: Collection[SourceLine]) -> Iterator[Misplaced]:
    """Yield the gradients that backward computes under flags of other inputs."""
    for tree in method_trees(lines, ("backward", "vjp")):
        flags = _named_flags(tree)
        places = {name: at for at, name in _returned_names(tree)}
        for test, names in _conditions(tree):
            asked = tuple(sorted(_asked(test, flags)))
            for position in sorted({places[name] for name in names if name in places}):
                if asked and position not in asked:
                    yield Misplaced(test.lineno, position, asked)


def _returned_names(tree: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    for values in returned(tree):
        for at, value in enumerate(values):
            if isinstance(value, ast.Name):
                yield at, value.id


def _conditions(tree: ast.FunctionDef) -> Iterator[tuple[ast.expr, set[str]]]:
    """Yield conditions, each with the names that are assigned only if it holds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            # The gradient of a nested condition depends on that one.
            inside = [each for each in node.body if not isinstance(each, ast.If)]
            yield node.test, set().union(*map(_assigned, inside))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp):
            yield node.value.test, _assigned(node)


def _assigned(statement: ast.stmt) -> set[str]:
    names = (each for each in ast.walk(statement) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Store)}


def _asked(test: ast.expr, flags: dict[str, int]) -> Iterator[int]:
    """Yield the positions whose flags a condition asks."""
    for node in ast.walk(test):
        position = flags.get(node.id) if isinstance(node, ast.Name) else _flag(node)
        if position is not None:
            yield position


def _flag(node: ast.AST) -> int | None:
    """The position in ``ctx.needs_input_grad[0]``; None for anything else."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return None
    position = node.slice.value
    return position if _is_flags(node.value) and isinstance(position, int) else None


def _is_flags(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == _FLAGS


def _named_flags(tree: ast.FunctionDef) -> dict[str, int]:
    """The position of each flag that has a name, as in ``x, y = ctx.needs_input_grad``."""
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            found |= dict(_names_of(node.targets[0], node.value))
    return found


def _names_of(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, int]]:
    if isinstance(target, ast.Tuple) and _is_flags(value):
        names = enumerate(target.elts)
        yield from ((each.id, at) for at, each in names if isinstance(each, ast.Name))
    elif isinstance(target, ast.Name) and (position := _flag(value)) is not None:
        yield target.id, position
