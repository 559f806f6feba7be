"""The source of a Function's methods as trees, and of the functions that they call."""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

Function = types.FunctionType
Definition = tuple[Function, ast.FunctionDef]
"""A function, and its definition in the tree of its file."""


def definitions(method: Callable[..., Any]) -> list[Definition]:
    """Return a function and those of its module that it calls, each of which has its source."""
    trees = [(function, definition(function)) for function in functions_of(method)]
    return [(function, tree) for function, tree in trees if tree is not None]


def functions_of(method: Callable[..., Any]) -> list[Function]:
    """Return a function and those of its own module that it calls, directly or not."""
    first = inspect.unwrap(method)
    found = [first] if isinstance(first, Function) else []
    for function in found:
        found += [each for each in dict.fromkeys(_named(function)) if each not in found]
    return found


def _named(function: Function) -> Iterator[Function]:
    """The functions of a function's module that its code names, itself or as ``Scan.step``."""
    names = function.__code__.co_names
    for name in names:
        known = function.__globals__.get(name)
        members = vars(known) if isinstance(known, type) else {}
        for each in (known, *(members.get(attribute) for attribute in names)):
            helper = each.__func__ if isinstance(each, staticmethod) else each
            if isinstance(helper, Function) and helper.__module__ == function.__module__:
                yield helper


def definition(function: Function) -> ast.FunctionDef | None:
    """Return the definition of a function in the tree of its file; None if it is not there."""
    code = function.__code__
    for node in ast.walk(_tree(code.co_filename)):
        if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
            continue
        if code.co_firstlineno in {node.lineno, *(each.lineno for each in node.decorator_list)}:
            return node
    return None


@lru_cache(maxsize=8)
def _tree(path: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return ast.Module([], [])
