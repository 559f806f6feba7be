"""Functions whose code is replaced while a block runs, wherever they are known from."""

from __future__ import annotations

import ast
import copy
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from gradtool.adapters.common.alterations.definitions import Function

STANDINS = "__gradtool_standins__"
"""The name under which altered code finds what stands in for its expressions."""


def standin(name: str, *args: ast.expr) -> ast.Call:
    """Return a call to a method of what is bound to `STANDINS`."""
    called = ast.Attribute(ast.Name(STANDINS, ast.Load()), name, ast.Load())
    return ast.Call(called, list(args), [])


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
