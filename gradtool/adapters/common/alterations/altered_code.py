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
        inside = vars(known) if isinstance(known, type) else {}
        for each in (known, *(inside.get(attribute) for attribute in names)):
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


@contextmanager
def altered(function: Function, tree: ast.FunctionDef, standins: object) -> Iterator[None]:
    """Let a function run another body, in which `STANDINS` is bound, in the block.

    Raises:
        ValueError: The body does not use the variables around the function as the first one does.
    """
    with running(function, compiled(function, tree), standins):
        yield


@contextmanager
def running(function: Function, code: types.CodeType, standins: object) -> Iterator[None]:
    """Let a function run other code, in which `STANDINS` is bound, in the block."""
    before, names = function.__code__, function.__globals__
    around = names.get(STANDINS)
    function.__code__ = code
    names[STANDINS] = standins
    try:
        with warnings.catch_warnings():
            # Of a body that nobody wrote.
            warnings.simplefilter("ignore")
            yield
    finally:
        function.__code__ = before
        names[STANDINS] = around
        if around is None:
            del names[STANDINS]


def compiled(function: Function, tree: ast.FunctionDef) -> types.CodeType:
    """Return the code of a definition with the variables that a function has around it.

    Raises:
        ValueError: The definition does not use them as the function does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _compiled(tree, function.__code__)


def _compiled(tree: ast.FunctionDef, before: types.CodeType) -> types.CodeType:
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


def shortened(code: str, other: str = "") -> str:
    """The code with its middle left out, if it is long.

    Its ends are left out instead if they are all that would be left of `other`, too.
    """
    made = _without_middle(code)
    if code in (made, other) or made != _without_middle(other):
        return made
    differs = (one != two for one, two in zip(code, other, strict=False))
    first = next((at for at, differ in enumerate(differs) if differ), len(code))
    start = max(first - _MOST_CHARACTERS // 3, 0)
    return f"... {code[start : start + _MOST_CHARACTERS - len('...  ...')].strip()} ..."


def _without_middle(code: str) -> str:
    if len(code) <= _MOST_CHARACTERS:
        return code
    start, end = _MOST_CHARACTERS * 3 // 5, _MOST_CHARACTERS * 2 // 5 - len(" ... ")
    return f"{code[:start].rstrip()} ... {code[-end:].lstrip()}"
