"""Variants that take a side of a branch that no case took: those that forward itself asks for."""

from __future__ import annotations

import ast
import copy
import inspect
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from gradtool.adapters.common.branches import Side, source_of
from gradtool.explore.coverage import Branches
from gradtool.explore.point import Point, Variant, with_value
from gradtool.explore.reading.names import is_share
from gradtool.explore.variants.extents import in_turns
from gradtool.explore.variants.limits import is_limit, moved
from gradtool.explore.variants.plain import is_kept, with_defaults
from gradtool.explore.variants.ranks import of_other_shape

_MOST = 24
"""Variants for all branches of a case."""


def guided(
    point: Point,
    branches: Branches,
    parameters: Sequence[inspect.Parameter],
    rng: np.random.Generator,
    *,
    moves_values: bool,
) -> Iterator[Variant]:
    """Yield variants for the sides that are missing as long as they are.

    Args:
        point: The arguments of the case.
        branches: Those of the Function, which grow as variants are tried.
        parameters: Those of ``forward``.
        rng: For the values.
        moves_values: Tensors may get values of another size.
    """
    streams = [
        _until_taken(side, branches, _towards(side, point, branches, parameters, rng, moves_values))
        for side in branches.missing
    ]
    yield from islice(_different(in_turns(streams)), _MOST)


def _different(variants: Iterable[Variant]) -> Iterator[Variant]:
    """Leave out what was there before: several sides may ask for the same value of an option."""
    known = set()
    for variant in variants:
        if variant.change not in known:
            known.add(variant.change)
            yield variant


def _until_taken(side: Side, branches: Branches, found: Iterator[Variant]) -> Iterator[Variant]:
    for variant in found:
        if side not in branches.missing:
            return
        yield variant


def _towards(
    side: Side,
    point: Point,
    branches: Branches,
    parameters: Sequence[inspect.Parameter],
    rng: np.random.Generator,
    moves_values: bool,
) -> Iterator[Variant]:
    test = _test_of(side)
    if test is not None:
        yield from _plain(test, with_defaults(point, parameters))
        yield from of_other_shape(test, point, rng)
    compared = branches.compared(side)
    if compared is not None and moves_values and is_limit(compared):
        yield from moved(side.branch, point, compared, rng)


# ---- arguments that are no tensors ------------------------------------------------------------


def _test_of(side: Side) -> ast.AST | None:
    try:
        return ast.parse(source_of(side.branch), mode="eval")
    except SyntaxError:
        return None


def _plain(test: ast.AST, point: Point) -> Iterator[Variant]:
    """Variants of the arguments that a test of Python names, on both sides of its constants."""
    for at in point.plain:
        name, before = point.names[at], point.values[at]
        if is_kept(name, before) or not _names(test, name):
            continue
        is_float = isinstance(before, float)
        own = _Compared(name).visit(copy.deepcopy(test)) if is_float else test
        for value in dict.fromkeys(_other_values(own, before)):
            if is_float and is_share(name):
                value = min(max(value, 0.0), 1.0)
            yield with_value(point, at, value, may_raise=type(value) is int)


def _names(test: ast.AST, name: str) -> bool:
    """Return True if a test reads an argument, or an attribute of that name."""
    return any(
        (isinstance(node, ast.Name) and node.id == name)
        or (isinstance(node, ast.Attribute) and node.attr == name)
        for node in ast.walk(test)
    )


class _Compared(ast.NodeTransformer):
    """Puts an argument itself in place of what comparisons compute with it.

    In ``x > -1.0 / (1.0 - t)``, the constants say nothing of where ``t`` ends.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        """Replace the sides that name the argument."""
        left, *others = map(self._plain, (node.left, *node.comparators))
        return ast.Compare(left, node.ops, others)

    def _plain(self, side: ast.expr) -> ast.expr:
        return ast.Name(self._name, ast.Load()) if _names(side, self._name) else side


def _other_values(test: ast.AST, before: Any) -> Iterator[Any]:
    if isinstance(before, bool):
        yield not before
        return
    if isinstance(before, float) and _is_equality(test):
        yield from _infinities(test)
    for node in ast.walk(test):
        if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
            continue
        constant = _signed(test, node)
        near: list[Any] = []
        match before, constant:
            case int(), int():
                near = [constant, constant + 1, constant - 1]
            case float(), int() | float():
                step = abs(constant) * 0.3 or 0.3
                is_equality = _is_equality(test)
                near = [constant] if is_equality else [constant + step, constant - step]
                near += [constant + step] if is_equality and constant == 0 else []
            case str(), str():
                near = [constant]
        yield from (each for each in near if each != before)


def _infinities(test: ast.AST) -> Iterator[float]:
    """Yield the infinite number that a test names, as ``-math.inf`` or ``float("-inf")``."""
    text = ast.unparse(test)
    if re.search(r"\binf\b", text):
        yield -math.inf if re.search(r"-\s*[\w.]*inf\b|['\"]-inf", text) else math.inf


def _is_equality(test: ast.AST) -> bool:
    return any(
        isinstance(op, ast.Eq | ast.NotEq)
        for node in ast.walk(test)
        if isinstance(node, ast.Compare)
        for op in node.ops
    )


def _signed(test: ast.AST, constant: ast.Constant) -> Any:
    """The constant with the minus sign that the test puts before it."""
    is_negated = any(
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and node.operand is constant
        for node in ast.walk(test)
    )
    value: Any = constant.value
    return -value if is_negated else value
