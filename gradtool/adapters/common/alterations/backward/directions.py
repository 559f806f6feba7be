"""Repairs of what accumulates along a dim or in a loop: from the other end, or up to an entry."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.trees import parsed

_CUMULATIVE = frozenset({"cumprod", "cumsum", "logcumsumexp"})


def directions(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what accumulates from the other end, or a sum without the entry itself."""
    match node:
        case ast.Call(func=ast.Name(id="reversed"), args=[over]):
            yield over
        case ast.Call(func=ast.Name(id="range")):
            yield ast.Call(ast.Name("reversed", ast.Load()), [node], [])
        case ast.Call(func=ast.Attribute(attr="flip"), args=[*_, _]):
            yield from _unflipped(node)
        case ast.Call(func=ast.Attribute(attr=name)) if name in _CUMULATIVE:
            yield from _accumulated(node, name)


def _unflipped(node: ast.Call) -> Iterator[ast.expr]:
    """``cumsum(x, 0)`` in the place of ``flip(cumsum(flip(x, [0]), 0), [0])``."""
    inner = _operand(node, "flip")
    for name in _CUMULATIVE:
        flipped = None if inner is None else _operand(inner, name)
        plain = None if flipped is None else _operand(flipped, "flip")
        if isinstance(inner, ast.Call) and flipped is not None and plain is not None:
            yield _with_operand(inner, flipped, plain)


def _accumulated(node: ast.Call, name: str) -> Iterator[ast.expr]:
    operand, dim = _operand(node, name), _dim(node)
    if operand is None or dim is None:
        return
    code = ast.unparse(operand)
    code = f"({code})" if isinstance(operand, ast.BinOp | ast.UnaryOp) else code
    yield parsed(f"{code}.flip({dim}).{name}({dim}).flip({dim})")
    if name == "cumsum":
        yield ast.BinOp(node, ast.Sub(), operand)


def _operand(node: ast.expr, name: str) -> ast.expr | None:
    """The tensor that a call of that name takes, as a function's argument or as its owner."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=attr), args=[x, *_]):
            return x if attr == name else None
        case ast.Call(func=ast.Attribute(value=x, attr=attr)):
            return x if attr == name else None
    return None


def _dim(node: ast.Call) -> str | None:
    chosen = [each.value for each in node.keywords if each.arg == "dim"] or node.args[-1:]
    code = ast.unparse(chosen[0]) if chosen else ""
    return code if code.lstrip("-").isidentifier() or code.lstrip("-").isdigit() else None


def _with_operand(call: ast.Call, old: ast.expr, new: ast.expr) -> ast.expr:
    if old in call.args:
        args = [new if each is old else each for each in call.args]
        return ast.Call(call.func, args, call.keywords)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return ast.Call(ast.Attribute(new, name, ast.Load()), call.args, call.keywords)
