"""Wrong variables: gradients left out, saved tensors mixed up, slices off by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.mutation.operators._operator import (
    Operator,
    adjacent_swapped,
    binary,
    method_call,
    with_fields,
)
from tests.mutation.places import Place


def incoming_replaced_by_ones(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if place.scope.is_value(node) and _is_incoming(place) and not _is_tested(place):
        zero = binary(node, ast.Mult(), ast.Constant(0))  # type: ignore[arg-type]
        yield binary(zero, ast.Add(), ast.Constant(1))


def incoming_not_linear(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if place.scope.is_value(node) and _is_incoming(place) and not _is_tested(place):
        assert isinstance(node, ast.Name)
        yield binary(node, ast.Mult(), node)
        yield method_call(node, "abs")


def detached(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if place.scope.is_value(node) and not _is_tested(place):
        assert isinstance(node, ast.Name)
        yield method_call(node, "detach")


def copied(place: Place) -> Iterator[ast.AST]:
    """A copy of an input or output is a stranger to autograd."""
    node = place.node
    if place.scope.method in {"forward", "setup_context"} and place.scope.is_value(node):
        assert isinstance(node, ast.Name)
        yield method_call(node, "clone")


def wrong_variable(place: Place) -> Iterator[ast.AST]:
    node, names = place.node, place.scope.variables
    if place.scope.is_value(node):
        assert isinstance(node, ast.Name)
        at = names.index(node.id)
        for other in dict.fromkeys([names[at - 1], names[(at + 1) % len(names)]]):
            if other != node.id:
                yield ast.Name(other, ast.Load())


def wrong_attribute(place: Place) -> Iterator[ast.AST]:
    node, attributes = place.node, place.scope.attributes
    if not isinstance(node, ast.Attribute) or not place.scope.is_context(node.value):
        return
    for other in attributes if node.attr in attributes else ():
        if other != node.attr:
            yield with_fields(node, attr=other)


def unpacked_in_wrong_order(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
        yield from (with_fields(node, elts=elements) for elements in adjacent_swapped(node.elts))


def slice_off_by_one(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if not isinstance(node, ast.Slice):
        return
    for name in ("lower", "upper"):
        bound = getattr(node, name)
        if bound is not None and not isinstance(bound, ast.Constant):
            yield with_fields(node, **{name: binary(bound, ast.Add(), ast.Constant(1))})
            yield with_fields(node, **{name: binary(bound, ast.Sub(), ast.Constant(1))})
        if bound is not None:
            yield with_fields(node, **{name: None})


def index_dropped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Subscript) and not _is_of_context(place, node.value):
        yield (
            with_fields(node.value, ctx=node.ctx)
            if isinstance(node.value, ast.Name)
            else (node.value)
        )


def _is_of_context(place: Place, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and place.scope.is_context(node.value)


def _is_incoming(place: Place) -> bool:
    return isinstance(place.node, ast.Name) and place.node.id in place.scope.incoming


def _is_tested(place: Place) -> bool:
    """Whether the name is asked for what it is, or for an attribute that is no derivative."""
    if isinstance(place.parent, ast.Compare):
        return any(isinstance(op, ast.Is | ast.IsNot) for op in place.parent.ops)
    return isinstance(place.parent, ast.Attribute) and place.parent.attr in {"shape", "dtype"}


OPERATORS: dict[str, Operator] = {
    "incoming gradient replaced by ones": incoming_replaced_by_ones,
    "not linear in the incoming gradient": incoming_not_linear,
    "detached": detached,
    "saved a copy": copied,
    "wrong variable": wrong_variable,
    "wrong ctx attribute": wrong_attribute,
    "unpacked in the wrong order": unpacked_in_wrong_order,
    "slice off by one": slice_off_by_one,
    "index dropped": index_dropped,
}
