"""Repairs of operations: another operator, an operand less, or two that change places."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.counterparts import INVERSE
from gradtool.adapters.common.alterations.trees import below
from gradtool.verify.thresholds.edits import REPAIRS_DEEPEST_PART


def signs(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an operation with the inverse operator, without its sign, or rounded up."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in INVERSE:
            yield ast.BinOp(left, INVERSE[type(op)](), right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):  # rounded up
            negated = ast.UnaryOp(ast.USub(), left)
            yield ast.UnaryOp(ast.USub(), ast.BinOp(negated, ast.FloorDiv(), right))


def products(node: ast.expr) -> Iterator[ast.expr]:
    """Yield a product in the place of a sum or a power, the other way round, and other sums."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield ast.BinOp(left, ast.Mult(), right)
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant() as right):
            yield ast.BinOp(left, ast.Pow(), right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield ast.BinOp(left, ast.Add(), right)
            yield from _sum_without_number(left, right)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            yield ast.BinOp(left, ast.Mult(), right)
        case ast.Call(func=ast.Attribute(attr="maximum" | "minimum"), args=[left, right]):
            total = ast.BinOp(left, ast.Add(), right)
            yield from (total, ast.BinOp(total, ast.Div(), ast.Constant(2)))


def _sum_without_number(left: ast.expr, right: ast.expr) -> Iterator[ast.expr]:
    """Yield a sum in the place of a product with a number, as ``a + b`` for ``2 * a * b``."""
    match left:
        case ast.BinOp(left=ast.Constant(), op=ast.Mult(), right=factor):
            yield ast.BinOp(factor, ast.Add(), right)


def is_product(node: ast.AST) -> bool:
    """Return True for an operation that scales its operands."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.MatMult)


def terms(node: ast.expr) -> Iterator[ast.expr]:
    """Yield a sum or difference without one of its terms."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield left
            yield right
        case ast.BinOp(left=left, op=ast.Sub()):
            yield left


def parts(backward: Backward) -> Iterator[Repair]:
    """Let a part of an expression stand for all of it, with as little left out as can be."""
    found = [
        (_size(node) - _size(part), number, Repair(node, part, around))
        for number, (node, around) in enumerate(backward.places)
        if isinstance(node, ast.BinOp | ast.Call | ast.IfExp)
        for part in below(node, REPAIRS_DEEPEST_PART)
    ]
    yield from (repair for _, _, repair in sorted(found, key=lambda one: one[:2]))


def _size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def exchanged(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression of which two neighbours change places."""
    match node:
        case ast.BinOp(left=left, op=ast.Sub() | ast.Div() | ast.MatMult() as op, right=right):
            yield ast.BinOp(right, op, left)
            yield from _weights_exchanged(node)
        case ast.BinOp(op=ast.Add()):
            yield from _weights_exchanged(node)
        case ast.Call(func=func, args=args, keywords=keywords):
            for swapped in _neighbours_exchanged(args):
                yield ast.Call(func, swapped, keywords)
        case ast.Tuple(elts=elts):
            for swapped in _neighbours_exchanged(elts):
                yield ast.Tuple(swapped, ast.Load())


def _weights_exchanged(node: ast.expr) -> Iterator[ast.expr]:
    """The weights of two terms, as in ``u * a + v * b``, exchanged."""
    match node:
        case ast.BinOp(
            left=ast.BinOp(left=u, op=ast.Mult() as times, right=a),
            op=op,
            right=ast.BinOp(left=v, op=ast.Mult(), right=b),
        ):
            yield ast.BinOp(ast.BinOp(v, times, a), op, ast.BinOp(u, times, b))


def _neighbours_exchanged(nodes: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    for at in range(len(nodes) - 1):
        yield [*nodes[:at], nodes[at + 1], nodes[at], *nodes[at + 2 :]]
