"""Wrong operators, terms, factors, signs and constants."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.mutation.operators._operator import Operator, binary, negated, number, with_fields
from tests.mutation.places import Place

_OTHER_OPERATOR: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div, ast.Mult),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}

_OTHER_COMPARISON: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}

_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "add_",
    ast.Sub: "sub_",
    ast.Mult: "mul_",
    ast.Div: "div_",
    ast.Pow: "pow_",
}

_OF_ORDER = (ast.Sub, ast.Div, ast.Pow, ast.MatMult)
_TERMS = (ast.Add, ast.Sub)


def operator_swapped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.BinOp | ast.AugAssign):
        for other in _OTHER_OPERATOR.get(type(node.op), ()):
            yield with_fields(node, op=other())


def done_in_place(place: Place) -> Iterator[ast.AST]:
    """On a variable that others hold as well."""
    node = place.node
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name):
        name = _IN_PLACE.get(type(node.op))
        if name and place.scope.is_value(node.left):
            yield ast.Call(ast.Attribute(node.left, name, ast.Load()), [node.right], [])


def operands_swapped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, _OF_ORDER):
        yield binary(node.right, node.op, node.left)


def term_dropped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, _TERMS):
        yield from (node.left, node.right)


def factor_dropped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.BinOp) and not isinstance(node.op, _TERMS):
        yield node.left
        if not isinstance(node.op, ast.Pow):
            yield node.right


def comparison_changed(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in _OTHER_COMPARISON.get(type(node.ops[0]), ()):
            yield with_fields(node, ops=[other()])


def sign_dropped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand


def sign_added(place: Place) -> Iterator[ast.AST]:
    node, parent = place.node, place.parent
    is_term = isinstance(parent, ast.BinOp) and isinstance(parent.op, _TERMS)
    is_argument = isinstance(parent, ast.Call) and place.field == "args"
    if isinstance(node, ast.Name | ast.Call | ast.BinOp) and (is_term or is_argument):
        yield negated(node)


def negation_dropped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield node.operand


def boolean_changed(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.BoolOp):
        yield with_fields(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
        yield from node.values


def constant_changed(place: Place) -> Iterator[ast.AST]:
    node = place.node
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    zero = type(value)(0)
    for other in dict.fromkeys([value + 1, value - 1, 2 * value, zero, -value]):
        if other != value:
            yield number(other)


def constant_slightly_off(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value:
        yield number(node.value * 1.001)


def flag_flipped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)


OPERATORS: dict[str, Operator] = {
    "operator swapped": operator_swapped,
    "operands swapped": operands_swapped,
    "done in place": done_in_place,
    "term dropped": term_dropped,
    "factor dropped": factor_dropped,
    "comparison changed": comparison_changed,
    "minus dropped": sign_dropped,
    "minus added": sign_added,
    "negation dropped": negation_dropped,
    "and/or changed": boolean_changed,
    "constant changed": constant_changed,
    "constant slightly off": constant_slightly_off,
    "flag flipped": flag_flipped,
}
