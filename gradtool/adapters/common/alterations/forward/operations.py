"""Edits of operations: an operator, a function, or something that it is applied to, is another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.counterparts import INVERSE, counterparts
from gradtool.adapters.common.alterations.forward.edit import Computed, Edit, kept
from gradtool.adapters.common.alterations.forward.operands import other_operands
from gradtool.adapters.common.alterations.trees import inside, parsed, replaced

_TANH_FORM = "torch.tanh(0.7978845608028654 * ({x} + 0.044715 * {x}**3))"
"""Approximation of ``erf(x / sqrt(2))``: D. Hendrycks and K. Gimpel, arXiv:1606.08415."""


def other_operations(computed: Computed) -> Iterator[Edit]:
    """Put another operator, function, number or orientation in the place of one."""
    value = computed.value
    for shown in inside(value):
        for node, made in _changes(shown):
            other = replaced(shown, {node: made})
            text = ast.unparse(_without_zero(other))
            # The derivative of all of the statement is another one, or of this operation alone.
            for whole in dict.fromkeys((value, shown)):
                yield kept(whole, replaced(whole, {node: made}), shown, text)
            yield Edit("other", node, made, shown, text)


def _changes(shown: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The nodes of one operation that may be changed, and to what."""
    match shown:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return  # A number, which is changed as an operand.
        case ast.BinOp():
            yield from _other_operators(shown)
        case ast.Call(func=ast.Attribute() as function):
            yield from _other_functions(shown, function)
    yield from other_operands(shown)


def _other_operators(shown: ast.BinOp) -> Iterator[tuple[ast.expr, ast.expr]]:
    other = INVERSE.get(type(shown.op))
    # Nobody divides anything by itself.
    if other and ast.dump(shown.left) != ast.dump(shown.right):
        yield shown, ast.BinOp(shown.left, other(), shown.right)


def _other_functions(
    call: ast.Call, function: ast.Attribute
) -> Iterator[tuple[ast.expr, ast.expr]]:
    name = function.attr
    for other in counterparts(name):
        yield function, ast.Attribute(function.value, other, ast.Load())
    yield from ((call, each) for each in _approximations(call))
    if name in {"std", "var"} and not _says_correction(call):
        biased = [*call.keywords, ast.keyword("correction", ast.Constant(0))]
        yield call, ast.Call(function, call.args, biased)


def _approximations(call: ast.Call) -> Iterator[ast.expr]:
    """The approximation of GELU by tanh, also of the ``erf(x / sqrt(2))`` in it."""
    match call:
        case ast.Call(func=ast.Attribute(attr="gelu") as function, args=args, keywords=[]):
            yield ast.Call(function, args, [ast.keyword("approximate", ast.Constant("tanh"))])
        case ast.Call(func=ast.Attribute(value=owner, attr="erf"), args=args):
            x = next(_unscaled(args[0] if args else owner))
            yield parsed(_TANH_FORM.format(x=x))


def _unscaled(node: ast.expr) -> Iterator[str]:
    """The code of ``x`` in ``x / sqrt(2)``, however that is written."""
    match node:
        case (
            ast.BinOp(left=x, op=ast.Div())
            | ast.BinOp(left=x, op=ast.Mult(), right=ast.Constant())
            | ast.BinOp(left=ast.Constant(), op=ast.Mult(), right=x)
        ):
            yield ast.unparse(x)
    yield f"(2**0.5 * ({ast.unparse(node)}))"


def _says_correction(call: ast.Call) -> bool:
    return any(each.arg in {"correction", "unbiased"} for each in call.keywords)


def _without_zero(node: ast.expr) -> ast.expr:
    """An expression as a person writes it: without a 0 that is added or subtracted."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant(value=0)):
            return left
        case ast.BinOp(left=ast.Constant(value=0), op=ast.Add(), right=right):
            return right
    return node
