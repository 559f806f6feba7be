"""Edits by which a part of an expression stands for all of it, or a term is left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.adapters.common.alterations.forward.edit import Computed, Edit, kept
from gradtool.adapters.common.alterations.forward.several_steps import opened
from gradtool.adapters.common.alterations.trees import below, inside, operands, replaced
from gradtool.verify.thresholds.edits import EDITS_DEEPEST_PART


def parts_differentiated(computed: Computed) -> Iterator[Edit]:
    """Yield the edits that keep the values of an expression and differentiate a part of it."""
    for node in inside(computed.value):
        for part in below(node, EDITS_DEEPEST_PART):
            yield kept(node, part, node, ast.unparse(part))
        yield from _without_a_term(node)
        yield from opened(node)


def parts_computed(computed: Computed) -> Iterator[Edit]:
    """Yield the edits that compute a part of an expression in its place."""
    for node in inside(computed.value):
        for part in below(node, EDITS_DEEPEST_PART):
            yield Edit("other", node, part, node, ast.unparse(part))
        if isinstance(node, ast.Subscript):
            made = standin("first", node.value, node)
            yield Edit("first", node, made, node, ast.unparse(node.value))


def _without_a_term(node: ast.expr) -> Iterator[Edit]:
    """The derivative of an operation is taken without a term of its operand, such as an eps."""
    for operand in operands(node):
        if isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.Add | ast.Sub):
            made = replaced(node, {operand: operand.left})
            yield kept(node, made, operand, ast.unparse(operand.left))
