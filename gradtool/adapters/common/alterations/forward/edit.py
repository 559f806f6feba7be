"""An edit of forward, and the places of its code where there may be one.

An edit either changes what forward computes, or keeps its values and changes only their derivative:
`Standins` has what does that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.verify.protocol.observation import AlterationKind


class Edit(msgspec.Struct, frozen=True):
    """A node of a function's tree, and what stands in its place."""

    kind: AlterationKind
    node: ast.AST
    """The node that is replaced; a loop has its body extended."""
    made: ast.AST
    shown: ast.AST
    """The expression of forward that a reader sees altered."""
    other: str
    """What stands in its place, in words or code."""


class Computed(msgspec.Struct, frozen=True, eq=False):
    """An expression that a statement of forward computes, and the variables around it."""

    value: ast.expr
    final: Sequence[str]
    """Tensor variables, whose last values are known."""
    numbers: Sequence[str]
    """Variables that are numbers."""


class Forward(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A function whose edits are sought."""

    tree: ast.FunctionDef
    final: Sequence[str]
    """Its tensor variables, whose last values are known."""
    numbers: Sequence[str] = ()
    """Its variables that are numbers."""

    @cached_property
    def computed(self) -> list[Computed]:
        """The expressions that its statements compute, but for those that only save."""
        return [Computed(each, self.final, self.numbers) for each in _values(self.tree)]

    @property
    def assignments(self) -> Iterator[tuple[ast.Name, ast.expr]]:
        """The variables that it sets one by one, each with its expression."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                yield node.targets[0], node.value


def kept(node: ast.expr, other: ast.expr, shown: ast.AST, text: str) -> Edit:
    """Return the edit that keeps the values of an expression and has the derivative of another."""
    return Edit("kept", node, standin("kept", other, node), shown, text)


def last(name: str) -> ast.Call:
    """Return the last value of a variable."""
    return standin("last", ast.Constant(name))


def _values(tree: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="ctx"))]):
                pass
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                yield from _elements(value)
            case ast.AugAssign(value=value) | ast.Return(value=ast.expr() as value):
                yield from _elements(value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner)), args=args)):
                # Such as ``states.append(h)``.
                yield from () if owner == "ctx" else args


def _elements(value: ast.expr) -> Sequence[ast.expr]:
    return value.elts if isinstance(value, ast.Tuple) else [value]
