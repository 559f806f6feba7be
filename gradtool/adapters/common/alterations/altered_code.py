"""Functions whose code is replaced while a block runs, wherever they are known from."""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from gradtool.adapters.common.alterations.edits import STANDINS

Function = types.FunctionType

_MOST_CHARACTERS = 72
"""Characters of an expression that a sentence still holds."""


def functions_of(forward: Callable[..., Any]) -> list[Function]:
    """Return a function and those of its own module that it calls, directly or not."""
    first = inspect.unwrap(forward)
    found = [first] if isinstance(first, Function) else []
    for function in found:
        for name in function.__code__.co_names:
            other = function.__globals__.get(name)
            if isinstance(other, Function) and other.__module__ == function.__module__:
                found += () if other in found else [other]
    return found


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


@contextmanager
def altered(function: Function, tree: ast.FunctionDef, standins: object) -> Iterator[None]:
    """Let a function run another body, in which `STANDINS` is bound, in the block.

    Raises:
        ValueError: The body does not use the variables around the function as the first one does.
    """
    before, names = function.__code__, function.__globals__
    function.__code__ = _compiled(tree, before)
    names[STANDINS] = standins
    try:
        with warnings.catch_warnings():
            # Of a body that nobody wrote.
            warnings.simplefilter("ignore")
            yield
    finally:
        function.__code__ = before
        names.pop(STANDINS, None)


def _compiled(tree: ast.FunctionDef, before: types.CodeType) -> types.CodeType:
    """Return the code of a definition with the variables that the first code has around it."""
    module = ast.parse("def around(): pass")
    outer = module.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.args.args = [ast.arg(name) for name in before.co_freevars]
    bare = copy.copy(tree)
    bare.decorator_list, bare.returns = [], None
    outer.body = [bare]
    made = compile(ast.fix_missing_locations(module), before.co_filename, "exec")
    found = _nested(_nested(made, "around"), tree.name)
    if found.co_freevars != before.co_freevars:
        raise ValueError(tree.name)
    return found


def _nested(code: types.CodeType, name: str) -> types.CodeType:
    for each in code.co_consts:
        if isinstance(each, types.CodeType) and each.co_name == name:
            return each
    raise ValueError(name)


def shortened(code: str) -> str:
    """The code with its middle left out, if it is long."""
    if len(code) <= _MOST_CHARACTERS:
        return code
    start, end = _MOST_CHARACTERS * 3 // 5, _MOST_CHARACTERS * 2 // 5 - len(" ... ")
    return f"{code[:start].rstrip()} ... {code[-end:].lstrip()}"
