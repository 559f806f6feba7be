"""Sources and their trees, read and parsed once for all that only look at them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import lru_cache
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

_own: WeakKeyDictionary[FunctionType, tuple[str, ast.Module]] = WeakKeyDictionary()


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
    is_plain = type(function) is FunctionType
    known = _own.get(function) if is_plain else None
    if known is None:
        # The source of a method is indented, which alone is not valid Python.
        text = textwrap.dedent(inspect.getsource(function))
        known = text, ast.parse(text)
        if is_plain:
            _own[function] = known
    return known
