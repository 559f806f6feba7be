"""Edits of factors: one is forgotten, is another one, or is there once too often."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.adapters.common.alterations.forward.edit import Computed, Edit, kept, last
from gradtool.adapters.common.alterations.trees import below, inside, replaced
from gradtool.verify.thresholds.edits import EDITS_MOST_SWAPPED


def factors_forgotten(computed: Computed) -> Iterator[Edit]:
    """Let the gradient pass to a factor of a product as if there were no other."""
    for product in _products(computed.value):
        for bare, other in ((product.left, product.right), (product.right, product.left)):
            made = standin("unscaled", bare, other)
            yield Edit("unscaled", product, made, product, ast.unparse(bare))


def factors_for_others(computed: Computed) -> Iterator[Edit]:
    """Put a factor in the place of another one, such as ``1 - b`` in that of ``b``."""
    value = computed.value
    factors = [each for product in _products(value) for each in (product.left, product.right)]
    for node, other in itertools.permutations(factors[:EDITS_MOST_SWAPPED], 2):
        if ast.dump(node) != ast.dump(other) and node not in ast.walk(other):
            made = replaced(value, {node: other})
            yield kept(value, made, value, ast.unparse(made))


def factors_added(computed: Computed) -> Iterator[Edit]:
    """Multiply or divide the derivative by a variable, or by a part of the expression."""
    for name in (*computed.final, *computed.numbers):
        yield from _times_and_over(computed.value, last(name), name)
    for node in inside(computed.value):
        for part in below(node, 1):
            yield from _times_and_over(node, part, ast.unparse(part))


def _times_and_over(node: ast.expr, factor: ast.expr, text: str) -> Iterator[Edit]:
    yield Edit("times", node, standin("times", node, factor), node, text)
    yield Edit("over", node, standin("over", node, factor), node, text)


def _products(value: ast.expr) -> Iterator[ast.BinOp]:
    for node in inside(value):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            yield node
