"""Shapes that operators show: of a convolution, a product of matrices, and of picked entries."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from gradtool.adapters.common.parsed_source import walked
from gradtool.cases.inference.shapes.facts import ShapeFacts

_CONVOLUTION = re.compile(r"conv(_transpose)?([123])d")

_MATRIX = 2
"""Dimensions of what ``x.T`` turns."""


def read_operands(facts: ShapeFacts, forward: ast.AST, bodies: Iterable[ast.AST]) -> None:
    """Note what the operators of forward show; `bodies` are its methods, in which ``x.T`` stands.

    A product of matrices shows their common extent only if some method transposes both: others
    may be batches of them.
    """
    for call in walked(forward):
        if isinstance(call, ast.Call):
            _convolved(facts, call)
    turned = {name for body in bodies for name in _transposed(body)} & set(facts.names)
    for name in sorted(turned, key=facts.names.index):
        facts.rank(name, _MATRIX)
    for left, right in _multiplied(forward):
        if {left, right} <= turned and left != right:
            facts.extent(left, 1, f"{left} @ {right}")
            facts.extent(right, 0, f"{left} @ {right}")
    for one, other in _alike(forward):
        if {*one, *other} <= turned:
            facts.extent(one[0], 0, f"rows of {one[0]}")
            facts.extent(other[0], 0, f"rows of {one[0]}")
            facts.extent(one[-1], 1, f"columns of {one[-1]}")
            facts.extent(other[-1], 1, f"columns of {one[-1]}")
    for first, *rest in _picked_alike(forward):
        for name in rest if set(rest) | {first} <= set(facts.names) else ():
            facts.extent(first, 0, f"rows of {first}")
            facts.extent(name, 0, f"rows of {first}")


def _convolved(facts: ShapeFacts, call: ast.Call) -> None:
    """Read ``conv2d(x, weight, bias)``: a batch, a filter of its channels, a bias for each."""
    found = _CONVOLUTION.fullmatch(getattr(call.func, "attr", getattr(call.func, "id", "")))
    operands = [each.id if isinstance(each, ast.Name) else "" for each in call.args[:3]]
    if found is None or not operands[1:] or not set(operands[:2]) <= set(facts.names):
        return
    x, weight, *bias = operands
    taken, made = (0, 1) if found[1] else (1, 0)
    for name in (x, weight):
        facts.rank(name, int(found[2]) + 2)
    if _may_be_ungrouped(facts, call):
        facts.extent(x, 1, f"channels of {x}")
        facts.extent(weight, taken, f"channels of {x}")
    for name in bias:
        facts.shape(name, [f"filters of {weight}"])
        facts.extent(weight, made, f"filters of {weight}")


def _may_be_ungrouped(facts: ShapeFacts, call: ast.Call) -> bool:
    """Return True if there is one group of channels, or if an argument says how many."""
    groups = [keyword.value for keyword in call.keywords if keyword.arg == "groups"]
    return all(isinstance(each, ast.Name) and each.id in facts.names for each in groups)


def _transposed(body: ast.AST) -> Iterator[str]:
    """Yield the names ``x`` of ``x.T``, ``x.mT`` and ``x.t()``."""
    for node in walked(body):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="T" | "mT" | "t"):
                yield name


def _product(node: ast.AST) -> tuple[str, str] | None:
    """The names of a product of two matrices."""
    match node:
        case ast.BinOp(left=ast.Name(id=left), op=ast.MatMult(), right=ast.Name(id=right)):
            return left, right
    return None


def _multiplied(body: ast.AST) -> Iterator[tuple[str, str]]:
    yield from (found for node in walked(body) if (found := _product(node)))


def _alike(body: ast.AST) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield pairs of products that are combined entry by entry."""
    for node in walked(body):
        match node:
            case ast.BinOp(left=one, op=ast.Mult() | ast.Add() | ast.Sub(), right=other):
                left, right = _product(one), _product(other)
                if left and right:
                    yield left, right


def _picked_alike(body: ast.AST) -> Iterator[list[str]]:
    """Yield the names of ``x[..., i] * y[..., j]``, whose axes before the last are the same."""
    picked = {
        each.targets[0].id: name
        for each in walked(body)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        if (name := _picked(each.value, {}))
    }
    for node in walked(body):
        if isinstance(node, ast.BinOp):
            found = (_picked(factor, picked) for factor in _factors(node))
            names = list(dict.fromkeys(name for name in found if name))
            if len(names) > 1:
                yield names


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the operands of ``a * b * c``, and of sums, which are combined entry by entry."""
    match node:
        case ast.BinOp(left=one, op=ast.Mult() | ast.Div() | ast.Add() | ast.Sub(), right=other):
            yield from (*_factors(one), *_factors(other))
        case _:
            yield node


def _picked(node: ast.expr, local: Mapping[str, str]) -> str | None:
    """The name ``x`` of ``x[..., index]``, or that for which a local name stands."""
    match node:
        case ast.Name(id=name):
            return local.get(name)
        case ast.Subscript(
            value=ast.Name(id=name),
            slice=ast.Tuple(elts=[ast.Constant(value=value), ast.Name()]),
        ) if value is ...:
            return name
    return None
