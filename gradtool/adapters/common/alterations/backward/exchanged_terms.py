"""Repairs that add the same term with two variables exchanged, as a symmetric product has it."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.places import results
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.trees import replaced


def exchanged_terms(backward: Backward) -> Iterator[Repair]:
    """Add to a result the same with two of its variables, which have one shape, exchanged."""
    for node, around in results(backward.tree):
        uses: dict[str, list[ast.Name]] = {}
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and backward.array(each) is not None:
                uses.setdefault(each.id, []).append(each)
        for one, other in itertools.combinations(uses, 2):
            first, second = (backward.array(uses[name][0]) for name in (one, other))
            if first is not None and second is not None and first.shape == second.shape:
                changes = _exchanges(uses, one, other)
                yield Repair(node, ast.BinOp(node, ast.Add(), replaced(node, changes)), around)


def _exchanges(uses: Mapping[str, list[ast.Name]], one: str, other: str) -> dict[ast.AST, ast.AST]:
    """Each use of one of two variables, with the other variable."""
    names = ((one, other), (other, one))
    return {each: ast.Name(new, ast.Load()) for old, new in names for each in uses[old]}
