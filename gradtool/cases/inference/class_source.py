"""The source of a class, for whose line Python before 3.13 parses the whole module each time."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from gradtool.adapters.common.parsed_source import parsed


def source_of(function: Any) -> str:
    """Return what `inspect.getsource` does, for classes of one module by a single parse.

    Raises what that does.
    """
    file = inspect.getsourcefile(function) if isinstance(function, type) else None
    if file is None or sys.version_info >= (3, 13):
        return inspect.getsource(function)
    lines = linecache.getlines(file, vars(sys.modules.get(function.__module__, object)))
    line = _lines_of_classes("".join(lines)).get(function.__qualname__)
    if line is None:
        return inspect.getsource(function)
    return "".join(inspect.getblock(lines[line - 1 :]))


@lru_cache(maxsize=4)
def _lines_of_classes(text: str) -> Mapping[str, int]:
    """Map the qualified name of each class to its first line, decorators included.

    Empty for what cannot be parsed.
    """
    found: dict[str, int] = {}
    try:
        tree = parsed(text)
    except (SyntaxError, ValueError):
        return found
    for name, node in _classes(tree, ""):
        found.setdefault(name, min([node.lineno, *(each.lineno for each in node.decorator_list)]))
    return found


def _classes(tree: ast.AST, before: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for node in ast.iter_child_nodes(tree):
        inside = before
        if isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.ClassDef):
            yield before + node.name, node
            inside = f"{before}{node.name}."
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = f"{before}{node.name}.<locals>."
        yield from _classes(node, inside)
