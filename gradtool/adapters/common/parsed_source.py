"""Sources and their trees, read and parsed once for all that only look at them."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any


@lru_cache(maxsize=4)
def parsed(source: str) -> ast.Module:
    """Parse the source of a module. Nobody may change the tree.

    Raises:
        SyntaxError: It is not Python.
        ValueError: It has a null byte.
    """
    return ast.parse(source)


def forward_of(function: Any) -> Any:
    """Return the forward of a Function; a callable that is none stands for itself."""
    return getattr(function, "forward", function)


def docstring_of(thing: Any) -> str:
    """Return the docstring of a function, class or module; empty if it would inherit one."""
    text = getattr(thing, "__doc__", None)
    return inspect.cleandoc(text) if isinstance(text, str) else ""


def own_source(function: Any) -> tuple[str, ast.Module]:
    """Return the source of a function alone, and its tree, which nobody may change.

    Raises what `inspect.getsource` and `ast.parse` do.
    """
    inner = inspect.unwrap(function)
    if type(inner) is not FunctionType:
        return _dedented(inspect.getsource(inner))
    file = inner.__code__.co_filename
    # Where the file is in an archive, only the module's loader can read it.
    linecache.lazycache(file, inner.__globals__)
    return _of_code(inner.__code__, file)


@lru_cache(maxsize=64)
def walked(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return what `ast.walk` yields, found once for all that ask."""
    return tuple(ast.walk(tree))


@lru_cache(maxsize=256)
def _of_code(code: CodeType, _file: str) -> tuple[str, ast.Module]:
    # Not of a function, which a dict with weak keys would have to keep: its callbacks are Python
    # code that a signal may interrupt. Codes of different files may be equal.
    return _dedented(source_of_code(code))


def source_of_code(code: CodeType) -> str:
    """Return the source of a function's code, with its indentation.

    `inspect.getsource` would first compare the file with those of all modules that are loaded.

    Raises:
        OSError: The file has no such line.
    """
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    if not lines:
        raise OSError("could not get source code")
    return "".join(inspect.getblock(lines))


def _dedented(text: str) -> tuple[str, ast.Module]:
    # The source of a method is indented, which alone is not valid Python.
    text = textwrap.dedent(text)
    return text, ast.parse(text)
