"""Changes of what an operation is applied to: a number, flag, comparison or orientation."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradtool.adapters.common.alterations.trees import method_call, numeral, operands

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt,
    ast.Lt: ast.Gt,
    ast.GtE: ast.LtE,
    ast.LtE: ast.GtE,
}
_ORIENTATIONS: Sequence[tuple[str, tuple[int, ...]]] = (
    ("transpose", (-1, -2)),
    ("flip", (0,)),
    ("flip", (-1,)),
    ("conj", ()),
)
"""Methods of a tensor, and their arguments, that turn it round."""


def other_operands(operation: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the operands of an operation, each with what may stand in its place."""
    for operand in operands(operation):
        for other in _others(operand, operation):
            yield operand, other


def _others(operand: ast.expr, operation: ast.expr) -> Iterator[ast.expr]:
    match operand:
        case ast.Constant(value=bool() as flag):
            yield ast.Constant(not flag)
        case ast.Tuple(elts=[*several]) if all(isinstance(n, ast.Constant) for n in several):
            yield from several
        case (
            ast.Constant(value=int() | float() as value)
            | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value))
        ):
            negative = isinstance(operand, ast.UnaryOp)
            yield from _other_numbers(-value if negative else +value, operation)
        case ast.Compare(left=left, ops=[comparison], comparators=comparators):
            if type(comparison) in _COMPARISONS:
                yield ast.Compare(left, [_COMPARISONS[type(comparison)]()], comparators)
        case ast.Name() | ast.Call() | ast.Subscript() | ast.BinOp() if not _chooses(operation):
            for name, args in _ORIENTATIONS:
                yield method_call(operand, name, *map(numeral, args))


def _other_numbers(value: float, operation: ast.expr) -> Iterator[ast.expr]:
    for other in dict.fromkeys((0, 1, -1, 2, -value, value - 1, value + 1)):
        if other != value and (other or not _scales(operation)):
            yield numeral(other)


def _chooses(node: ast.expr) -> bool:
    """Return True for a choice between operands: any other order of them may choose the same."""
    match node:
        case ast.Call(func=ast.Attribute(attr="minimum" | "maximum" | "where" | "fmin" | "fmax")):
            return True
    return False


def _scales(node: ast.expr) -> bool:
    """Return True for an operation that leaves nothing of its operands if a number in it is 0."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.Pow)
