"""Repairs that switch an expression to its counterpart: another method, comparison or order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.counterparts import counterparts
from gradtool.adapters.common.alterations.trees import parsed

_TRIANGLES = {"tril": "triu", "triu": "tril"}
"""Of forward they are not exchanged: backward, which transposes, is where they are mixed up."""

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}


def switches(node: ast.expr) -> Iterator[ast.expr]:
    """Yield another method, comparison, order, branch or truth value."""
    match node:
        case ast.Call(func=ast.Attribute()):
            yield from _other_methods(node)
        case ast.Call(func=ast.Name(id="range")):
            yield ast.Call(ast.Name("reversed", ast.Load()), [node], [])
        case ast.Call(func=ast.Name(id="reversed"), args=[ast.Call() as steps]):
            yield steps
        case ast.Compare(left=left, ops=[op], comparators=comparators):
            for kind in _COMPARISONS.get(type(op), ()):
                yield ast.Compare(left, [kind()], comparators)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)


def _other_methods(call: ast.Call) -> Iterator[ast.expr]:
    match call:
        case (
            ast.Call(func=ast.Attribute(value=value, attr="gather"), args=[dim, index])
            | ast.Call(func=ast.Attribute(attr="gather"), args=[value, dim, index])
        ):
            x, places = ast.unparse(value), f"{ast.unparse(dim)}, {ast.unparse(index)}"
            yield parsed(f"({x}).new_zeros(({x}).shape).scatter_add({places}, {x})")
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args, keywords=keywords):
            triangle = [_TRIANGLES[attr]] if attr in _TRIANGLES else []
            for other in (*counterparts(attr), *triangle):
                yield ast.Call(ast.Attribute(value, other, ast.Load()), args, keywords)
