"""Edits of the point at which a derivative is taken: at the value of another variable."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.adapters.common.alterations.forward.edit import Computed, Edit, Forward, last
from gradtool.adapters.common.alterations.trees import EXPRESSIONS, inside, operands, replaced


def taken_elsewhere(computed: Computed) -> Iterator[Edit]:
    """Take a derivative at the value of another variable."""
    for node, operand in _within(computed.value):
        if isinstance(operand, EXPRESSIONS) and operand is not node:
            text = ast.unparse(operand)
            for name in computed.final:
                moved = standin("at", operand, ast.Constant(name))
                there = f"`{name}` instead of `{text}`"
                later = f"the last value of `{name}`"
                yield _at(node, {operand: moved}, later if name == text else there)


def _within(value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The operations in an expression with their operands, and all of it with what is deeper."""
    pairs = [(node, operand) for node in inside(value) for operand in operands(node)]
    return [*pairs, *((value, node) for node in inside(value) if (value, node) not in pairs)]


def taken_after(forward: Forward) -> Iterator[Edit]:
    """Take a derivative at the value that a variable has after the statement."""
    for name, value in forward.assignments:
        for used in inside(value):
            if isinstance(used, ast.Name) and used.id == name.id:
                moved = standin("moved", used, value)
                yield _at(value, {used: moved}, f"the new `{name.id}`, not at the old one")


def _at(node: ast.expr, moved: dict[ast.AST, ast.AST], other: str) -> Edit:
    return Edit("at", node, standin("kept", replaced(node, moved), node), node, other)


def taken_with_others(computed: Computed) -> Iterator[Edit]:
    """Take a derivative by one operand with another variable in the place of the other operand."""
    for node in inside(computed.value):
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add | ast.Sub):
            for by, operand in ((node.left, node.right), (node.right, node.left)):
                if isinstance(by, EXPRESSIONS) and isinstance(operand, EXPRESSIONS):
                    for name in computed.final:
                        if name != ast.unparse(operand):
                            yield _with_another(node, by, operand, name)


def _with_another(node: ast.BinOp, by: ast.expr, operand: ast.expr, name: str) -> Edit:
    there = standin("moved", standin("constant", operand), last(name))
    first = replaced(node, {operand: there})
    second = replaced(node, {by: standin("constant", by)})
    made = standin("kept", ast.BinOp(first, ast.Add(), second), node)
    other = f"`{ast.unparse(by)}`, using `{name}` instead of `{ast.unparse(operand)}`"
    return Edit("by", node, made, node, other)
