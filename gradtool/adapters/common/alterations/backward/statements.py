"""Repairs of whole statements: one is left out, adds where it overwrites, or sets others."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.trees import parsed


def targets_exchanged(backward: Backward) -> Iterator[Repair]:
    """Exchange two targets of an assignment."""
    for statement in ast.walk(backward.tree):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
            target = statement.targets[0]
            for one, other in itertools.combinations(range(len(target.elts)), 2):
                swapped = list(target.elts)
                swapped[one], swapped[other] = swapped[other], swapped[one]
                yield Repair(target, ast.Tuple(swapped, ast.Store()), target)


def left_out(backward: Backward) -> Iterator[Repair]:
    """Leave out a statement that changes what an earlier one computed."""
    stored = Counter(
        node.id
        for node in ast.walk(backward.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    for node in ast.walk(backward.tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if stored[name] > 1:
                yield Repair(node, ast.Pass(), node)
            case ast.Assign(targets=[ast.Subscript()]) | ast.AugAssign():
                yield Repair(node, ast.Pass(), node)
            case ast.Expr(value=ast.Call()):
                yield Repair(node, ast.Pass(), node)


def accumulations(backward: Backward) -> Iterator[Repair]:
    """Add to entries, each time that their indices are repeated."""
    for node in ast.walk(backward.tree):
        match node:
            case ast.AugAssign(target=ast.Subscript() as target, op=ast.Add()):
                yield _accumulating(node, target, node.value)
            case ast.Assign(targets=[ast.Subscript() as target]):
                yield Repair(node, ast.AugAssign(target, ast.Add(), node.value), node)
                yield _accumulating(node, target, node.value)
            case ast.AugAssign(target=target, op=ast.Add() | ast.Sub() as op):
                other = ast.Sub() if isinstance(op, ast.Add) else ast.Add()
                yield Repair(node, ast.AugAssign(target, other, node.value), node)
                yield Repair(node, ast.Assign([target], node.value), node)


def _accumulating(node: ast.stmt, target: ast.Subscript, value: ast.expr) -> Repair:
    index = target.slice
    places = index if isinstance(index, ast.Tuple) else ast.Tuple([index], ast.Load())
    x = parsed(ast.unparse(target.value))
    adding = [ast.keyword("accumulate", ast.Constant(True))]
    called = ast.Attribute(x, "index_put_", ast.Load())
    return Repair(node, ast.Expr(ast.Call(called, [places, value], adding)), node)
