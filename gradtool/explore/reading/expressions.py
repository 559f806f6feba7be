"""Expressions of arguments and numbers, as docstrings write them."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "max": lambda *each: reduce(np.maximum, each),
    "min": lambda *each: reduce(np.minimum, each),
}
_CONSTANTS = {"e": math.e, "pi": math.pi}


def is_expression(node: ast.AST) -> bool:
    """Return True for a tree of names, numbers, operators and well-known functions."""
    match node:
        case ast.Constant(value=int() | float()):
            return not isinstance(node.value, bool)
        case ast.Name():
            return True
        case ast.UnaryOp(op=op, operand=operand):
            return type(op) in _OPERATORS and is_expression(operand)
        case ast.BinOp(left=left, op=op, right=right):
            return type(op) in _OPERATORS and is_expression(left) and is_expression(right)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return name in _FUNCTIONS and all(map(is_expression, args))
    return False


def named(tree: ast.expr) -> set[str]:
    """Return the names in an expression that are neither functions nor constants."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names - _FUNCTIONS.keys() - _CONSTANTS.keys()


def value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """Compute an expression of numbers and arrays.

    Raises KeyError for a name without a value, and what the operators raise.
    """
    match node:
        case ast.Constant(value=number):
            return number
        case ast.Name(id=name):
            return values[name] if name in values else _CONSTANTS[name]
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](value(operand, values))
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](value(left, values), value(right, values))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _FUNCTIONS[name](*(value(each, values) for each in args))
    raise TypeError(node)
