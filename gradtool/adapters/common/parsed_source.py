"""Sources and their trees, read and parsed once for all that only look at them."""

from __future__ import annotations

import ast
import inspect
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


def own_source(function: Any) -> tuple[str, ast.Module]:
    """Return the source of a function alone, and its tree, which nobody may change.

    Raises what `inspect.getsource` and `ast.parse` do.
    """
    inner = inspect.unwrap(function)
    if type(inner) is not FunctionType:
        return _read(inner)
    return _of_code(inner.__code__, inner.__code__.co_filename)


@lru_cache(maxsize=256)
def _of_code(code: CodeType, _file: str) -> tuple[str, ast.Module]:
    # Not of a function, which a dict with weak keys would have to keep: its callbacks are Python
    # code that a signal may interrupt. Codes of different files may be equal.
    return _read(code)


def _read(found: Any) -> tuple[str, ast.Module]:
    # The source of a method is indented, which alone is not valid Python.
    text = textwrap.dedent(inspect.getsource(found))
    return text, ast.parse(text)
