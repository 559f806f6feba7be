"""Repairs of numbers, and of the places that a loop reads: the one beside is meant."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.trees import parsed
from gradtool.verify.thresholds.edits import MULTIPLES_DIFFERENCE, MULTIPLES_MOST, NUDGE

_SCALES = (1 / 64, 1 / 8, 8, 64)
"""Multiples of a number on which the accuracy of an approximation depends."""

_COUNT_SCALES = (8, 64)
"""The same of a count, such as that of the terms of a series."""


def other_numbers(backward: Backward) -> Iterator[Repair]:
    """Put another number, or the index beside, in the place of one."""
    for node, around in backward.places:
        for made in (*_near(node), *_beside(node)):
            yield Repair(node, made, around, is_factor=isinstance(made, ast.Constant))


def _near(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            for other in (value + 1, value - 1, 2 * value, value / 2, -value):
                if other != value:
                    yield ast.Constant(other)


def _beside(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Subscript(value=value, slice=ast.Name() as index):
            for op in (ast.Sub(), ast.Add()):
                moved = ast.BinOp(index, op, ast.Constant(1))
                yield ast.Subscript(value, moved, ast.Load())
            # The value of the turn before, of which there is none at first.
            earlier = ast.Subscript(value, parsed(f"{index.id} - 1"), ast.Load())
            yield ast.BinOp(earlier, ast.Mult(), parsed(f"({index.id} > 0)"))
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[*indices])):
            for at, one in enumerate(indices):
                for sign in ("+", "-") if isinstance(one, ast.Name) else ():
                    other = parsed(f"{ast.unparse(one)} {sign} 1")
                    others = [*indices[:at], other, *indices[at + 1 :]]
                    yield ast.Subscript(value, ast.Tuple(others, ast.Load()), ast.Load())


def ones_for_variables(backward: Backward) -> Iterator[Repair]:
    """Put one in the place of a variable that is another number."""
    for node, around in backward.places:
        if backward.number(node) not in (None, 1):
            yield Repair(node, ast.Constant(1), around, is_factor=True)


def numbers_of_calls(backward: Backward) -> Iterator[Repair]:
    """Put another number in the place of one that several calls of a function share.

    As the order of both ``polygamma(1, x)`` and ``polygamma(1, y)``.
    """
    found: dict[tuple[str, int, str], list[tuple[ast.expr, ast.AST]]] = {}
    for node, _ in backward.places:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            for at, argument in enumerate(node.args):
                key = node.func.attr, at, ast.unparse(argument)
                found.setdefault(key, []).append((argument, node))
    for (first, around), *rest in found.values():
        for made in _near(first) if rest else ():
            yield Repair(first, made, around, others=tuple(node for node, _ in rest))


def scaled_numbers(backward: Backward) -> Iterator[Repair]:
    """Take a longer series or iteration, a smaller step, another threshold of two formulas."""
    for node, around in backward.places:
        match node:
            case ast.Constant(value=float() as number) if number:
                for scale in _SCALES:
                    yield Repair(node, ast.Constant(number * scale), around, scale=scale)
            case ast.Constant(value=int() as number) if number > 1:
                for scale in _COUNT_SCALES:
                    yield Repair(node, ast.Constant(number * scale), around, scale=scale)
            case ast.Attribute() if isinstance(backward.values.get(node), float):
                for scale in _SCALES:
                    made = parsed(f"{scale} * {ast.unparse(node)}")
                    yield Repair(node, made, around, scale=scale)


def nudged_numbers(backward: Backward) -> Iterator[Repair]:
    """Make a number a little larger: how the gradient moves tells whether another one is meant."""
    for node, around in backward.places:
        match node:
            case ast.Constant(value=float() as number) if number:
                yield Repair(node, ast.Constant(number * (1 + NUDGE)), around, nudged=number)


def multiples(backward: Backward) -> Iterator[Repair]:
    """Put a multiple of a number of forward in the place of one that is nearly as large."""
    known = [each for each in backward.forward if isinstance(each.node, ast.Constant)]
    for node, around in backward.places:
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            for each in known:
                for times in range(1, MULTIPLES_MOST):
                    if _is_nearly(node.value, times * each.value):
                        made = parsed(each.code if times == 1 else f"{times} * {each.code}")
                        shown = node if isinstance(around, ast.Tuple) else around
                        yield Repair(node, made, shown, is_factor=True)


def _is_nearly(value: float, exact: float) -> bool:
    return value != exact and math.isclose(value, exact, rel_tol=MULTIPLES_DIFFERENCE)
