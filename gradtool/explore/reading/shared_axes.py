"""Axes that the source compares with one: along these, one tensor may be shared by all entries."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gradtool.explore.reading.source import nodes


def compared_with_one(function: Any) -> dict[str, set[int] | None]:
    """Return the axes, by the name of a tensor, whose extents the source compares with one.

    None for all of them, as in ``[i for i, n in enumerate(t.shape) if n == 1]``. An extent that has
    a name of its own, as in ``n = x.shape[0]``, is more likely to be that of several tensors.
    """
    found: dict[str, set[int] | None] = {}
    for node in nodes(function):
        for name, axis in _compared(node):
            axes = found.setdefault(name, set())
            if axis is None or axes is None:
                found[name] = None
            else:
                axes.add(axis)
    return found


def _compared(node: ast.AST) -> Iterator[tuple[str, int | None]]:
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            for one, other in ((left, right), (right, left)):
                if _is_one(other):
                    yield from _extent(one)
        case ast.comprehension(iter=source, ifs=tests) if any(
            _is_one(side)
            for test in tests
            for each in ast.walk(test)
            if isinstance(each, ast.Compare)
            for side in (each.left, *each.comparators)
        ):
            for each in ast.walk(source):
                match each:
                    case ast.Attribute(value=ast.Name(id=name), attr="shape"):
                        yield name, None


def _extent(node: ast.expr) -> Iterator[tuple[str, int]]:
    """The tensor and the axis of ``t.shape[0]`` and ``t.size(0)``."""
    match node:
        case (
            ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=axis)
            | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[axis])
        ):
            try:
                number = ast.literal_eval(axis)
            except ValueError:
                return
            if type(number) is int:
                yield name, number


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 1
