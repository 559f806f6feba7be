"""Conditions that a test consists of, each one comparison or one call that has to hold.

``not ((x > 0) & (x < 1)).all()`` is refused, say: then ``x > 0`` and ``x < 1`` have to hold. Of
alternatives, each is listed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

import msgspec

_INVERSE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
    ast.Is: ast.IsNot,
    ast.In: ast.NotIn,
}
_INVERSE |= {other: one for one, other in _INVERSE.items()}

_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE}
_MIRRORED |= {other: one for one, other in _MIRRORED.items()}

_COMPARING: dict[str, type[ast.cmpop]] = {
    "eq": ast.Eq,
    "ne": ast.NotEq,
    "lt": ast.Lt,
    "less": ast.Lt,
    "le": ast.LtE,
    "less_equal": ast.LtE,
    "gt": ast.Gt,
    "greater": ast.Gt,
    "ge": ast.GtE,
    "greater_equal": ast.GtE,
}
"""Functions and methods that compare."""

_WHOLE = {"all", "any"}
_JOINING = {"logical_and", "logical_or", "bitwise_and", "bitwise_or"}
_LIBRARIES = {"torch", "np", "numpy"}


class Condition(msgspec.Struct, frozen=True):
    """A comparison, or without an operator an expression, that has to be as it says."""

    left: ast.expr
    operator: type[ast.cmpop] | None = None
    right: ast.expr | None = None
    holds: bool = True
    """False for an expression that has to be false."""

    @property
    def test(self) -> ast.expr:
        """The expression that is true where the condition is met."""
        if self.operator is not None and self.right is not None:
            return ast.Compare(self.left, [self.operator()], [self.right])
        return self.left if self.holds else ast.UnaryOp(ast.Not(), self.left)

    def mirrored(self) -> Condition | None:
        """The same with its sides exchanged; None if that is something else."""
        if self.operator is None or self.right is None:
            return None
        if self.operator in {ast.In, ast.NotIn}:
            return None
        return Condition(self.right, _MIRRORED.get(self.operator, self.operator), self.left)


def conditions(node: ast.expr, *, holds: bool) -> Iterator[Condition]:
    """Yield the conditions of a test that has to be true, or false."""
    parts = _parts(node)
    if parts is not None:
        for part, is_kept in parts:
            yield from conditions(part, holds=holds is is_kept)
    elif isinstance(node, ast.Compare):
        yield from _compared(node, holds=holds)
    elif found := _comparing_call(node):
        yield from _compared(found, holds=holds)
    else:
        yield from _whether_zero(node, holds=holds)


def _parts(node: ast.expr) -> list[tuple[ast.expr, bool]] | None:
    """The tests that a test is made of, with False for a negated one; None for a single one."""
    match node:
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=inner):
            return [(inner, False)]
        case ast.BoolOp(values=values):
            return [(each, True) for each in values]
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            return [(left, True), (right, True)] if _is_logical(left) else None
        case ast.Call(func=ast.Name(id="bool"), args=[inner]):
            return [(inner, True)]
        case ast.Call(func=ast.Name(id="all" | "any"), args=[inner]):
            return [(each, True) for each in _items(inner)]
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args):
            return _parts_of_call(owner, name, args)
    return None


def _parts_of_call(
    owner: ast.expr, name: str, args: list[ast.expr]
) -> list[tuple[ast.expr, bool]] | None:
    inner = args[:1] if is_library(owner) else [owner]
    if name in _WHOLE or (name == "item" and _is_logical(owner)):
        return [(each, True) for each in inner]
    if name == "logical_not":
        return [(each, False) for each in inner]
    if name in _JOINING:
        return [(each, True) for each in (*inner, *args[len(args) - 1 :])]
    return None


def is_library(node: ast.expr) -> bool:
    """Return True for a name by which PyTorch or NumPy is known."""
    return isinstance(node, ast.Name) and node.id in _LIBRARIES


def _is_logical(node: ast.expr) -> bool:
    """Return True for an expression that is true or false, unlike a number."""
    match node:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not() | ast.Invert()):
            return True
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr()):
            return _is_logical(left)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name.startswith("is") or name in {*_WHOLE, *_COMPARING, *_JOINING}
    return False


def _items(node: ast.expr) -> list[ast.expr]:
    """The tests of ``all((a, b))``, and of ``any(t.is_complex() for t in (x, y))`` for each."""
    match node:
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return list(elts)
        case (
            ast.GeneratorExp(elt=test, generators=[one]) | ast.ListComp(elt=test, generators=[one])
        ):
            match one.target, one.iter:
                case ast.Name(id=name), ast.Tuple(elts=elts) | ast.List(elts=elts):
                    return [replaced(test, {name: each}) for each in elts]
    return [node]


def replaced(node: ast.expr, values: dict[str, ast.expr]) -> ast.expr:
    """The expression with other expressions in place of names."""

    class Names(ast.NodeTransformer):
        def visit_Name(self, found: ast.Name) -> ast.expr:
            return values.get(found.id, found)

    changed = Names().visit(copy.deepcopy(node))
    assert isinstance(changed, ast.expr)
    return changed


def _compared(node: ast.Compare, *, holds: bool) -> Iterator[Condition]:
    sides = [node.left, *node.comparators]
    for operator, one, other in zip(node.ops, sides, sides[1:], strict=False):
        kind = type(operator)
        yield Condition(one, kind if holds else _INVERSE[kind], other)


def _comparing_call(node: ast.expr) -> ast.Compare | None:
    """The comparison that ``x.gt(0)`` or ``torch.gt(x, 0)`` is."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args):
            sides = args if is_library(owner) else [owner, *args]
            if name in _COMPARING and len(sides) == 2:
                return ast.Compare(sides[0], [_COMPARING[name]()], [sides[1]])
    return None


def _whether_zero(node: ast.expr, *, holds: bool) -> Iterator[Condition]:
    """Yield the condition of an expression: a number is compared with 0."""
    if isinstance(node, ast.BinOp):
        yield Condition(node, ast.NotEq if holds else ast.Eq, ast.Constant(0))
    else:
        yield Condition(node, holds=holds)
