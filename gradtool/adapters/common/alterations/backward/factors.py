"""Repairs by which an expression is multiplied or divided by something more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.operations import is_product
from gradtool.adapters.common.alterations.backward.places import results
from gradtool.adapters.common.alterations.backward.repair import Repair, made_by
from gradtool.adapters.common.alterations.shown_code import shortened
from gradtool.adapters.common.alterations.trees import parsed

_ENDS = ("first", "last", "first and last", "inner")
_TWICE_AND_HALF = {2.0: "doubled", 0.5: "halved"}


def halves_and_doubles(backward: Backward) -> Iterator[Repair]:
    """Halve and double a product that is no factor of a larger one."""
    for node, around in backward.places:
        if is_product(node) and (around is node or not is_product(around)):
            for factor in (0.5, 2.0):
                made = ast.BinOp(ast.Constant(factor), ast.Mult(), node)
                yield Repair(node, made, node, is_factor=True)


def factors_of_results(backward: Backward) -> Iterator[Repair]:
    """Multiply or divide what is returned or set by a variable, or by a row of one."""
    for family in (backward.held.factors, backward.held.rows):
        yield from made_by(family, results(backward.tree), is_factor=True)


def factors_of_variables(backward: Backward) -> Iterator[Repair]:
    """Multiply or divide a variable by another one."""
    variable = [
        (node, around)
        for node, around in backward.places
        if isinstance(node, ast.Name) and not isinstance(around, ast.Compare)
    ]
    yield from made_by(backward.held.factors, variable, is_factor=True)


def factors_of_terms(backward: Backward) -> Iterator[Repair]:
    """Multiply or divide a call in a sum or difference by a variable."""
    terms = [
        (node, around)
        for node, around in backward.places
        if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Add | ast.Sub)
        if isinstance(node, ast.Call)
    ]
    yield from made_by(backward.held.factors, terms)


def complements(backward: Backward) -> Iterator[Repair]:
    """Multiply a variable by what is left to one of another, as of the output of a sigmoid."""
    shares = {
        node.id: np.shape(value)
        for node, value in backward.values.items()
        if isinstance(node, ast.Name) and isinstance(value, np.ndarray)
        if value.dtype.kind == "f" and value.size and value.min() > 0 and value.max() < 1
    }
    for node, around in backward.places:
        value = backward.array(node) if isinstance(node, ast.Name) else None
        if value is not None and not isinstance(around, ast.Compare):
            for name, shape in shares.items():
                if shape == value.shape:
                    yield Repair(node, parsed(f"{ast.unparse(node)} * (1 - {name})"), around)


def extents_of_numbers(backward: Backward) -> Iterator[Repair]:
    """Divide or multiply a number by an extent: a weight is often spread over as many entries."""
    for node, _ in backward.places:
        if backward.number(node) is not None:
            for code in backward.held.extents(node.lineno):
                for operation in (ast.Div(), ast.Mult()):
                    made = ast.BinOp(node, operation, parsed(code))
                    yield Repair(node, made, node, is_factor=True)


def weighed_ends(backward: Backward) -> Iterator[Repair]:
    """Weigh the first, last or inner entries of a tensor along its last dim differently.

    The spectrum of a real signal has bins that count once and bins that count twice, and a rule of
    integration has ends that count half.
    """
    for node in backward.nodes:
        value = backward.array(node)
        if value is not None and value.ndim > 0 and value.shape[-1] > 1:
            for end in _ENDS:
                for factor, done in _TWICE_AND_HALF.items():
                    weighed = standin("weighed", node, ast.Constant(end), ast.Constant(factor))
                    whole = shortened(ast.unparse(node))
                    words = f"the {end} entries of `{whole}` along its last dim {done}"
                    yield Repair(node, weighed, node, is_factor=True, words=words)
