"""Inequalities between expressions of the arguments, as docstrings write them out."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import reduce
from typing import Any

import numpy as np

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    "\u2264": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "\u2265": np.greater_equal,
}
_SIGN = re.compile(r"<=|>=|[<>\u2264\u2265]")
_END = re.compile(r"[;:`'\"\n]|\.(?!\d)|<=|>=|[<>\u2264\u2265]")
"""Matches what no side of an inequality contains."""

_STARTS = re.compile(r"(?<![\w.])[-(\w]")
_STOPS = re.compile(r"[\w)](?![\w.(])")

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
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

Inequality = Callable[[Mapping[str, Any]], bool]
"""Tells from the values of the arguments whether it holds everywhere."""


def inequalities(text: str, names: Collection[str]) -> Iterator[Inequality]:
    """Yield the inequalities that a text states of arguments, such as ``c > max(F - K, 0)``.

    Not those of a name and a number, of which there may be several to choose from.
    """
    for sign in _SIGN.finditer(text):
        left = _longest(_starts(text[: sign.start()]), names)
        right = _longest(_stops(text[sign.end() :]), names)
        if left is None or right is None or not _named(left) | _named(right):
            continue
        if not (_is_plain(left) and _is_plain(right)) or len(_named(left) | _named(right)) > 1:
            yield _Holds(left, _COMPARISONS[sign.group()], right)


class _Holds:
    def __init__(self, left: ast.expr, compare: Callable[[Any, Any], Any], right: ast.expr) -> None:
        self._sides, self._compare = (left, right), compare

    def __call__(self, values: Mapping[str, Any]) -> bool:
        try:
            with np.errstate(all="ignore"):
                return bool(np.all(self._compare(*(_value(each, values) for each in self._sides))))
        except (KeyError, TypeError, ValueError):  # One is left out, or the shapes differ.
            return True


def _starts(before: str) -> Iterator[str]:
    """Yield what may be the left side, the longest first."""
    ends = [match.end() for match in _END.finditer(before)]
    part = before[ends[-1] if ends else 0 :]
    yield from (part[match.start() :] for match in _STARTS.finditer(part))


def _stops(after: str) -> Iterator[str]:
    """Yield what may be the right side, the longest first."""
    end = _END.search(after)
    part = after[: end.start()] if end else after
    yield from (part[: match.end()] for match in reversed([*_STOPS.finditer(part)]))


def _longest(sides: Iterator[str], names: Collection[str]) -> ast.expr | None:
    """Return the first that is an expression of arguments and numbers."""
    for side in sides:
        try:
            tree = ast.parse(side.strip().replace("^", "**"), mode="eval").body
        except (SyntaxError, ValueError):
            continue
        if _is_expression(tree, names):
            return tree
    return None


def _is_expression(node: ast.AST, names: Collection[str]) -> bool:
    match node:
        case ast.Constant(value=int() | float()):
            return not isinstance(node.value, bool)
        case ast.Name(id=name):
            return name in names or name in _CONSTANTS
        case ast.UnaryOp(op=op, operand=operand):
            return type(op) in _OPERATORS and _is_expression(operand, names)
        case ast.BinOp(left=left, op=op, right=right):
            sides = (_is_expression(each, names) for each in (left, right))
            return type(op) in _OPERATORS and all(sides)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return name in _FUNCTIONS and all(_is_expression(each, names) for each in args)
    return False


def _is_plain(tree: ast.expr) -> bool:
    """Return True for a name or a number, which may be negative."""
    return isinstance(
        tree.operand if isinstance(tree, ast.UnaryOp) else tree, ast.Name | ast.Constant
    )


def _named(tree: ast.expr) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names - _FUNCTIONS.keys() - _CONSTANTS.keys()


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """Compute an expression. Raises KeyError for a name without a value."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return values[name] if name in values else _CONSTANTS[name]
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_value(operand, values))
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _FUNCTIONS[name](*(_value(each, values) for each in args))
    raise TypeError(node)
