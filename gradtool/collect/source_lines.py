"""Where in the user's source a class, a function or a method is defined."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradtool.results.paths import shown_path
from gradtool.results.report import Location

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


def function_location(function: Any) -> Location | None:
    """File and line of the ``def`` of a function, past its decorators; None without source."""
    function = inspect.unwrap(function)
    try:
        lines, first = inspect.getsourcelines(function)
        path = inspect.getsourcefile(function)
    except (OSError, TypeError):
        return None
    offsets = (i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async ")))
    return Location(path=shown_path(Path(str(path))), line=first + next(offsets, 0))


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
