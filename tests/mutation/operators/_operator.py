"""What an operator is, and the few ways to make new source of old."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from tests.mutation.places import Place

Operator = Callable[[Place], Iterator[ast.AST | None]]
"""Yields what to put in a place; None takes away what is there."""


def number(value: float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else negated(ast.Constant(-value))


def negated(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.USub(), node)


def binary(left: ast.expr, operator: ast.operator, right: ast.expr) -> ast.expr:
    return ast.BinOp(left, operator, right)


def method_call(value: ast.expr, name: str) -> ast.expr:
    return ast.Call(ast.Attribute(value, name, ast.Load()), [], [])


def with_fields(node: Any, **fields: Any) -> Any:
    """A copy of `node` with other children."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def adjacent_swapped(items: list[Any]) -> Iterator[list[Any]]:
    """The list with two neighbours swapped, for each pair of neighbours."""
    for at in range(len(items) - 1):
        yield [*items[:at], items[at + 1], items[at], *items[at + 2 :]]


def without(items: list[Any], at: int) -> list[Any]:
    return [*items[:at], *items[at + 1 :]]
