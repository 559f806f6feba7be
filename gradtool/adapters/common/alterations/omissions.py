"""Edits of a backward that leave out what it has too much of, or let it add where it overwrites."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from gradtool.adapters.common.alterations.edits import below, parsed, replaced
from gradtool.verify.thresholds.edits import REPAIRS_DEEPEST_PART


class Edit(msgspec.Struct, frozen=True):
    """A node of a backward's tree, what stands in its place, and the expression to show."""

    node: ast.AST
    made: ast.AST
    around: ast.AST
    """The node, or the expression or statement that it is a part of."""
    is_factor: bool = False
    """It multiplies or divides by something, or may do so by another number."""
    others: tuple[ast.AST, ...] = ()
    """More nodes that are replaced likewise."""
    also: tuple[tuple[ast.AST, ast.AST], ...] = ()
    """More nodes, each with what stands in its place."""
    other: str = ""
    """What stands in its place, where the source of `made` does not say it."""
    words: str = ""
    """What makes backward right, where an expression in place of another does not say it."""
    line_of_forward: int | None = None
    """The line that computes it in forward; None for an edit that takes nothing from there."""

    scale: float | None = None
    """How many times as large a number is made."""

    @property
    def changes(self) -> dict[ast.AST, ast.AST]:
        """Each node that is replaced, with what stands in its place."""
        return dict.fromkeys((self.node, *self.others), self.made) | dict(self.also)


def parts(expressions: Sequence[tuple[ast.expr, ast.AST]]) -> Iterator[Edit]:
    """Let a part of an expression stand for all of it, with as little left out as can be."""
    found = [
        (_size(node) - _size(part), number, Edit(node, part, around))
        for number, (node, around) in enumerate(expressions)
        if isinstance(node, ast.BinOp | ast.Call | ast.IfExp)
        for part in below(node, REPAIRS_DEEPEST_PART)
    ]
    yield from (edit for _, _, edit in sorted(found, key=lambda one: one[:2]))


def _size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def slices(expressions: Sequence[tuple[ast.expr, ast.AST]]) -> Iterator[Edit]:
    """Leave out a bound of a slice, or the upper bounds of all slices of an expression."""
    nodes = [(n, outer) for n, outer in expressions if isinstance(n, ast.Slice)]
    for node, outer in nodes:
        if node.upper:
            yield Edit(node, ast.Slice(node.lower, None, node.step), outer)
        if node.lower:
            yield Edit(node, ast.Slice(None, node.upper, node.step), outer)
    for whole, _ in expressions:
        inside = [
            n for n, _ in nodes if n.upper and isinstance(whole, ast.Call) and n in ast.walk(whole)
        ]
        if len(inside) > 1:
            also = tuple((n, ast.Slice(n.lower, None, n.step)) for n in inside)
            yield Edit(whole, replaced(whole, dict(also)), whole)


def statements(tree: ast.FunctionDef) -> Iterator[Edit]:
    """Leave out a statement that changes what an earlier one computed."""
    stored = Counter(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if stored[name] > 1:
                yield Edit(node, ast.Pass(), node)
            case ast.Assign(targets=[ast.Subscript()]) | ast.AugAssign():
                yield Edit(node, ast.Pass(), node)
            case ast.Expr(value=ast.Call()):
                yield Edit(node, ast.Pass(), node)


def accumulations(tree: ast.FunctionDef) -> Iterator[Edit]:
    """Add to entries, each time that their indices are repeated."""
    for node in ast.walk(tree):
        match node:
            case ast.AugAssign(target=ast.Subscript() as target, op=ast.Add()):
                yield _accumulating(node, target, node.value)
            case ast.Assign(targets=[ast.Subscript() as target]):
                yield Edit(node, ast.AugAssign(target, ast.Add(), node.value), node)
                yield _accumulating(node, target, node.value)
            case ast.AugAssign(target=target, op=ast.Add() | ast.Sub() as op):
                other = ast.Sub() if isinstance(op, ast.Add) else ast.Add()
                yield Edit(node, ast.AugAssign(target, other, node.value), node)
                yield Edit(node, ast.Assign([target], node.value), node)


def _accumulating(node: ast.stmt, target: ast.Subscript, value: ast.expr) -> Edit:
    index = target.slice
    places = index if isinstance(index, ast.Tuple) else ast.Tuple([index], ast.Load())
    x = parsed(ast.unparse(target.value))
    adding = [ast.keyword("accumulate", ast.Constant(True))]
    called = ast.Attribute(x, "index_put_", ast.Load())
    return Edit(node, ast.Expr(ast.Call(called, [places, value], adding)), node)


def conditions(tree: ast.FunctionDef) -> Iterator[Edit]:
    """Take the other branch, or always the same one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            test = node.test
            yield Edit(test, ast.UnaryOp(ast.Not(), test), test)
            for value in (True, False) if not isinstance(node, ast.While) else ():
                words = f"the condition `{ast.unparse(test)}` always {str(value).lower()}"
                yield Edit(test, ast.Constant(value), test, words=words)
