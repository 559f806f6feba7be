"""The values that the expressions of a function have in one run of it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.adapters.common.alterations.trees import replaced
from gradtool.adapters.library import library
from gradtool.verify.thresholds.edits import NOTED_MOST_ENTRIES

Value = Any
"""An array, which is a copy, or a number."""

_ENDS: dict[str, Any] = {
    "first": slice(0, 1),
    "last": slice(-1, None),
    "first and last": [0, -1],
    "inner": slice(1, -1),
}

_NOTED = (
    ast.Attribute | ast.BinOp | ast.Call | ast.Constant | ast.IfExp | ast.Name | ast.Subscript
) | ast.UnaryOp


class Notes:
    """The object behind `STANDINS` in a function that notes its values.

    A later turn of a loop replaces what an earlier one noted.
    """

    def __init__(self) -> None:
        self.values: dict[int, Value] = {}
        self.chosen = -1
        """The number of the edit that a switched function runs with."""

    def note(self, number: int, value: Any) -> Any:
        """Note the value of an expression, and return it."""
        if isinstance(value, library().Tensor):
            if value.numel() <= NOTED_MOST_ENTRIES:
                self.values[number] = np.array(library().array(value))
        elif isinstance(value, int | float | complex) and not isinstance(value, bool):
            self.values[number] = value
        return value

    def leave(self, value: Any, again: Sequence[tuple[int, Callable[[], Any]]]) -> Any:
        """Note what some expressions are at the end of a function, and return its value."""
        for number, compute in again:
            with suppress(Exception):  # Not every branch sets all variables.
                self.note(number, compute())
        return value

    def noted(self, number: int) -> Any:
        """Return what was noted last, as the tensor or number that it was."""
        found = self.values[number]
        return library().tensor(found.copy()) if isinstance(found, np.ndarray) else found

    def weighed(self, value: Any, end: str, factor: float) -> Any:
        """Return a tensor with some of its entries along the last dim times a factor."""
        weights = np.ones(value.shape[-1])
        weights[_ENDS[end]] = factor
        return value * library().tensor(weights).to(value.device)


def noting(tree: ast.FunctionDef, nodes: list[ast.expr]) -> ast.FunctionDef:
    """Return a function's tree in which its expressions are noted by their place in `nodes`."""
    made = copy.copy(tree)
    made.body = [_noting(each, nodes) for each in tree.body]
    return made


def noting_again(
    tree: ast.FunctionDef, plain: ast.FunctionDef, nodes: list[ast.expr]
) -> ast.FunctionDef:
    """Return a tree that also notes, where it returns, what loops compute, by the final values."""
    again: list[ast.expr] = []
    for value in _in_loops(plain):
        compute = ast.Lambda(ast.arguments([], [], None, [], [], None, []), value)
        again.append(ast.Tuple([ast.Constant(len(nodes)), compute], ast.Load()))
        nodes.append(value)
    every = ast.List(again, ast.Load())
    returns = [n for n in ast.walk(tree) if isinstance(n, ast.Return) and n.value is not None]
    return replaced(
        tree, {n: ast.Return(standin("leave", n.value, every)) for n in returns if n.value}
    )


def _in_loops(tree: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield what loops set variables to, but for what changes something or is random."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    for node in (each for loop in loops for each in ast.walk(loop)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names = [n.attr for n in ast.walk(node.value) if isinstance(n, ast.Attribute)]
            if not any(name.endswith("_") or "rand" in name for name in names):
                yield node.value


def _noting(node: Any, nodes: list[ast.expr]) -> Any:
    made = copy.copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(node, ast.Call) and field == "func":
            made.func = _function(value, nodes)
        elif isinstance(value, list):
            setattr(made, field, [_part(each, nodes) for each in value])
        else:
            setattr(made, field, _part(value, nodes))
    if not isinstance(node, _NOTED) or _is_target(node):
        return made
    nodes.append(node)
    return standin("note", ast.Constant(len(nodes) - 1), made)


def _part(value: Any, nodes: list[ast.expr]) -> Any:
    is_code = isinstance(value, ast.AST) and not isinstance(value, ast.JoinedStr | ast.pattern)
    return _noting(value, nodes) if is_code else value


def _function(node: ast.expr, nodes: list[ast.expr]) -> ast.expr:
    """The function of a call: of a method, the tensor that has it is noted."""
    if not isinstance(node, ast.Attribute):
        return node
    made = copy.copy(node)
    made.value = _part(node.value, nodes)
    return made


def _is_target(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
