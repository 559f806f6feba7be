"""Where in a module's source a class, a function or a method is defined."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def definition(tree: ast.Module, value: Any) -> _Definition | None:
    """The statement in `tree` that defines the class or function `value`.

    A name may be defined more than once; the one that holds the code of `value` is meant.
    """
    name = getattr(value, "__name__", None)
    found = [node for node in _definitions(tree) if node.name == name]
    lines = list(_code_lines(value))
    holding = [node for node in found if any(_holds(node, line) for line in lines)]
    return next(iter([*holding, *found]), None)


def method_line(tree: ast.Module, cls: type, names: tuple[str, ...]) -> int | None:
    """The line of the first of the methods `names` that the class's own body defines."""
    node = definition(tree, cls)
    if not isinstance(node, ast.ClassDef):
        return None
    lines = {
        statement.name: statement.lineno
        for statement in node.body
        if isinstance(statement, ast.FunctionDef)
    }
    return next((lines[name] for name in names if name in lines), None)


def _definitions(tree: ast.Module) -> Iterator[_Definition]:
    for node in ast.walk(tree):
        if isinstance(node, _Definition):
            yield node


def _code_lines(value: Any) -> Iterator[int]:
    """First lines of the code of a function, or of the functions in a class's body."""
    members = list(vars(value).values()) if isinstance(value, type) else [value]
    for member in members:
        code = getattr(inspect.unwrap(getattr(member, "__func__", member)), "__code__", None)
        if code is not None:
            yield code.co_firstlineno


def _holds(node: _Definition, line: int) -> bool:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return first <= line <= (node.end_lineno or node.lineno)
