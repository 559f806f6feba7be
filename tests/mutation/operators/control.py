"""Wrong branches, missing statements, declarations and results."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from tests.mutation.operators._operator import (
    Operator,
    adjacent_swapped,
    binary,
    negated,
    with_fields,
    without,
)
from tests.mutation.operators.spoiling import SPOILING
from tests.mutation.places import Place

_NEEDS = "needs_input_grad"


def _test(place: Place, *, of_needs: bool) -> ast.expr | None:
    """The node, if it is the condition of a branch that asks for needed gradients, or does not."""
    is_test = place.field == "test" and isinstance(place.parent, ast.If | ast.IfExp)
    if not is_test or not isinstance(place.node, ast.expr):
        return None
    return place.node if (_NEEDS in ast.unparse(place.node)) is of_needs else None


def branch_inverted(place: Place) -> Iterator[ast.AST]:
    test = _test(place, of_needs=False)
    if test is not None:
        yield ast.UnaryOp(ast.Not(), test)


def branch_always_or_never(place: Place) -> Iterator[ast.AST]:
    if _test(place, of_needs=False) is not None:
        yield ast.Constant(True)
        yield ast.Constant(False)


def need_inverted(place: Place) -> Iterator[ast.AST]:
    test = _test(place, of_needs=True)
    if test is not None:
        yield ast.UnaryOp(ast.Not(), test)


def need_not_asked(place: Place) -> Iterator[ast.AST]:
    if _test(place, of_needs=True) is not None:
        yield ast.Constant(True)
        yield ast.Constant(False)


def statement_dropped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    can_be_missed = isinstance(node, ast.AugAssign | ast.Expr | ast.For | ast.While)
    if isinstance(node, ast.Assign):
        names_nothing = not isinstance(node.targets[0], ast.Name | ast.Tuple)
        inside = isinstance(place.parent, ast.If | ast.For | ast.While)
        can_be_missed = names_nothing or inside
    if can_be_missed:
        yield ast.Pass()


def overwritten(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.AugAssign):
        yield ast.Assign([node.target], node.value)


def results_swapped(place: Place) -> Iterator[ast.AST]:
    for node in _results(place):
        yield from (with_fields(node, elts=each) for each in adjacent_swapped(node.elts))


def result_missing(place: Place) -> Iterator[ast.AST]:
    """None in the place of a gradient, or one gradient less."""
    for node in _results(place):
        for at in range(len(node.elts)):
            if not _is_none(node.elts[at]):
                yield with_fields(node, elts=_replaced(node.elts, at, ast.Constant(None)))
        yield with_fields(node, elts=without(node.elts, len(node.elts) - 1))
    if _is_single(place):
        yield ast.Constant(None)


def result_repeated(place: Place) -> Iterator[ast.AST]:
    for node in _results(place):
        for at in range(1, len(node.elts)):
            yield with_fields(node, elts=_replaced(node.elts, at, node.elts[at - 1]))
    if _is_single(place):
        assert isinstance(place.node, ast.expr)
        yield ast.Tuple([place.node, place.node], ast.Load())


def result_scaled(place: Place) -> Iterator[ast.AST]:
    """The whole of a gradient with another sign, twice as large, or hardly off."""
    return _each_result(place, _scaled)


def result_spoiled(place: Place) -> Iterator[ast.AST]:
    """One entry of a gradient wrong, or all of its last digits."""
    return _each_result(place, _spoiled)


def _each_result(
    place: Place, others: Callable[[ast.expr], Iterator[ast.expr]]
) -> Iterator[ast.AST]:
    for node in _results(place):
        for at, element in enumerate(node.elts):
            if not _is_none(element):
                for other in others(element):
                    yield with_fields(node, elts=_replaced(node.elts, at, other))
    if _is_single(place):
        assert isinstance(place.node, ast.expr)
        yield from others(place.node)


def declaration_dropped(place: Place) -> Iterator[None]:
    """Without ``once_differentiable`` a second derivative is asked for."""
    if place.field == "decorator_list" and ast.unparse(place.node) != "staticmethod":
        yield None


def _scaled(node: ast.expr) -> Iterator[ast.expr]:
    yield negated(node)
    yield binary(ast.Constant(2), ast.Mult(), node)
    yield binary(ast.Constant(1.001), ast.Mult(), node)
    yield binary(ast.Constant(1.00002), ast.Mult(), node)


def _spoiled(node: ast.expr) -> Iterator[ast.expr]:
    for name in SPOILING:
        yield ast.Call(ast.Name(name, ast.Load()), [node], [])


def _results(place: Place) -> Iterator[ast.Tuple]:
    """The tuple that a method returns."""
    if isinstance(place.parent, ast.Return) and isinstance(place.node, ast.Tuple):
        yield place.node


def _is_single(place: Place) -> bool:
    returned = isinstance(place.parent, ast.Return) and not isinstance(place.node, ast.Tuple)
    return returned and not _is_none(place.node)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _replaced(items: list[Any], at: int, item: Any) -> list[Any]:
    return [*items[:at], item, *items[at + 1 :]]


OPERATORS: dict[str, Operator] = {
    "branch inverted": branch_inverted,
    "branch always or never taken": branch_always_or_never,
    "needs_input_grad inverted": need_inverted,
    "needs_input_grad ignored": need_not_asked,
    "statement dropped": statement_dropped,
    "overwritten instead of accumulated": overwritten,
    "results swapped": results_swapped,
    "result missing": result_missing,
    "result repeated": result_repeated,
    "result scaled": result_scaled,
    "result with a wrong entry or lost digits": result_spoiled,
    "once_differentiable dropped": declaration_dropped,
}
