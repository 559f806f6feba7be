"""The expression of a backward that is NaN first, and the one whose infinity makes it so."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradtool.adapters.common.alterations.definitions import Definition, Function
from gradtool.adapters.common.alterations.noted_values import Value
from gradtool.adapters.common.alterations.shown_code import code_of, shortened
from gradtool.adapters.common.alterations.trees import operands
from gradtool.verify.protocol.observation import NotANumber

Values = Mapping[ast.AST, Value]


def first_nan(definitions: Sequence[Definition], values: Values) -> NotANumber | None:
    """Return the expression of a method, or of what it calls, that is NaN though no operand is.

    Args:
        definitions: The method, then the functions that it calls.
        values: Those of their expressions in a run.
    """
    origins = [
        (function, tree, node)
        for function, tree in definitions
        for node in _begun_by(tree, values, np.isnan)
    ]
    for number, (function, tree, node) in enumerate(origins):
        # What a function returns is NaN because of an expression of its own.
        if not any(_calls(node, inner) for inner, _, _ in origins[number + 1 :]):
            return _described(function, tree, node, values)
    return None


def _described(function: Function, tree: ast.AST, node: ast.expr, values: Values) -> NotANumber:
    infinite = [
        found
        for each in operands(node)
        if _has(values.get(each), np.isinf)
        for found in [*_begun_by(_computed(tree, each), values, np.isinf), each][:1]
    ]
    return NotANumber(
        path=function.__code__.co_filename,
        line=node.lineno,
        code=shortened(code_of(node)),
        infinite=shortened(code_of(infinite[0])) if infinite else "",
    )


def _computed(tree: ast.AST, node: ast.expr) -> ast.expr:
    """The expression that a variable is set to, if there is one; else the expression itself."""
    for each in ast.walk(tree):
        match each, node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value), ast.Name(id=other):
                if name == other:
                    return value
    return node


def _calls(node: ast.expr, function: Function) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return bool(name == function.__name__)


def _begun_by(tree: ast.AST, values: Values, test: Callable[[Any], Any]) -> Iterator[ast.expr]:
    """Yield the expressions that pass a test of their entries though no operand does."""
    for node in _in_order(tree):
        inside = any(_has(values.get(each), test) for each in operands(node))
        if not inside and _has(values.get(node), test):
            yield node


def _in_order(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions of a tree, each after those inside it."""
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
    if isinstance(node, ast.expr):
        yield node


def _has(value: Value | None, test: Callable[[Any], Any]) -> bool:
    is_array = isinstance(value, np.ndarray) and value.dtype.kind in "fc"
    with np.errstate(all="ignore"):
        return is_array and bool(test(value).any())
