"""Edits of calls, which the gradient passes with another sign or by another formula."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.adapters.common.alterations.forward.edit import Computed, Edit
from gradtool.adapters.common.alterations.forward.several_steps import weighed_over_another_dim
from gradtool.adapters.common.alterations.forward.standins import BY_OUTPUT
from gradtool.adapters.common.alterations.trees import EXPRESSIONS, inside, operands, replaced

_PIECEWISE = frozenset({"abs", "clamp", "clip", "hardtanh", "relu", "sign", "threshold"})
"""Functions made of straight pieces, of which a derivative elsewhere is a mask."""

_OPERAND = "operand_"


def calls_passed(computed: Computed) -> Iterator[Edit]:
    """Yield the edits by which the gradient passes a call in another way."""
    for node in inside(computed.value):
        if isinstance(node, ast.Call):
            yield from _solved_untransposed(node)
            yield from weighed_over_another_dim(node)
            yield Edit("other", node, ast.UnaryOp(ast.USub(), node), node, f"-{ast.unparse(node)}")
            for operand in operands(node):
                if isinstance(operand, EXPRESSIONS):
                    yield from _by_operand(node, operand)


def by_input(value: ast.expr) -> Iterator[ast.expr]:
    """Yield a call whose derivative has the input where its formula has the output."""
    if isinstance(value, ast.Call):
        for operand in operands(value):
            if isinstance(operand, EXPRESSIONS):
                yield from _by_input(value, operand)


def _by_operand(call: ast.Call, operand: ast.expr) -> Iterator[Edit]:
    text = ast.unparse(operand)
    for made in _by_input(call, operand):
        yield Edit("by_input", call, made, call, text)
    if _name(call) not in _PIECEWISE:
        negative = ast.UnaryOp(ast.USub(), standin("constant", operand))
        there = replaced(call, {operand: standin("moved", operand, negative)})
        yield Edit("at", call, standin("kept", there, call), call, f"`-{text}` instead of `{text}`")
    yield Edit("transposed", call, _transposed(call, operand), call, text)


def _by_input(call: ast.Call, operand: ast.expr) -> Iterator[ast.expr]:
    if _name(call) in BY_OUTPUT:
        yield standin("by_input", ast.Constant(_name(call)), operand, call)


def _transposed(call: ast.Call, operand: ast.expr) -> ast.expr:
    """The call, whose pullback applies its derivative by an operand without a transpose."""
    argument = ast.arguments([], [ast.arg(_OPERAND)], None, [], [], None, [])
    body = replaced(call, {operand: ast.Name(_OPERAND, ast.Load())})
    return standin("transposed", ast.Lambda(argument, body), operand)


def _solved_untransposed(call: ast.Call) -> Iterator[Edit]:
    match call:
        case ast.Call(func=ast.Attribute(attr="solve"), args=[matrix, right], keywords=[]):
            made = standin("solved_untransposed", matrix, right, call)
            yield Edit("transposed", call, made, call, "")


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[-1]
