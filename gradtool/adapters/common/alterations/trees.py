"""Trees of code: what is in an expression, and the same tree with some of its nodes replaced."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from operator import is_
from typing import Any, TypeVar

EXPRESSIONS = ast.BinOp | ast.UnaryOp | ast.Call | ast.Name | ast.Subscript | ast.Attribute
"""Expressions that have a value of their own, which a number or a tuple says nothing about."""

_Tree = TypeVar("_Tree", bound=ast.AST)

# ---- reading ----------------------------------------------------------------------------------


def inside(value: ast.expr) -> Iterator[ast.expr]:
    """Yield the expressions in another one, itself first, without names of functions."""
    if isinstance(value, EXPRESSIONS):
        yield value
    for child in _children(value):
        yield from inside(child)


def below(node: ast.expr, depth: int) -> Iterator[ast.expr]:
    """Yield the expressions inside another one, down to a number of levels."""
    for child in _children(node) if depth else ():
        if isinstance(child, EXPRESSIONS):
            yield child
        yield from below(child, depth - 1)


def _children(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(value=owner), args=args, keywords=keywords):
            yield from (owner, *args, *(each.value for each in keywords))
        case ast.Call(args=args, keywords=keywords):
            yield from (*args, *(each.value for each in keywords))
        case ast.Lambda():
            pass
        case _:
            yield from (n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))


def operands(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what an operation is applied to; of a method, the object that has it comes first."""
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (left, right)
        case ast.UnaryOp(operand=ast.expr() as operand):
            yield operand
        case ast.Call(func=function, args=args, keywords=keywords):
            if isinstance(function, ast.Attribute):
                yield function.value
            yield from args
            yield from (each.value for each in keywords)


# ---- making -----------------------------------------------------------------------------------


def parsed(code: str) -> ast.expr:
    """Return the expression that is written so."""
    return ast.parse(code, mode="eval").body


def numeral(value: float) -> ast.expr:
    """Return a number as the parser reads it, the sign apart."""
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def method_call(owner: ast.expr, name: str, *args: ast.expr) -> ast.Call:
    """Return a call to a method."""
    return ast.Call(ast.Attribute(owner, name, ast.Load()), list(args), [])


def replaced(tree: _Tree, made: Mapping[ast.AST, ast.AST]) -> _Tree:
    """Return a tree with some of its nodes replaced; those above none of them are shared."""
    found: _Tree = _replaced(tree, made)
    return found


def _replaced(node: ast.AST, made: Mapping[ast.AST, ast.AST]) -> Any:
    if node in made:
        return made[node]
    other = None
    for field in node._fields:
        value = getattr(node, field, None)
        new = _replaced_within(value, made)
        if new is not value:
            other = other or copy.copy(node)
            setattr(other, field, new)
    return other or node


def _replaced_within(value: object, made: Mapping[ast.AST, ast.AST]) -> object:
    if isinstance(value, list):
        found = [_replaced_within(each, made) for each in value]
        return value if all(map(is_, found, value)) else found
    return _replaced(value, made) if isinstance(value, ast.AST) else value
