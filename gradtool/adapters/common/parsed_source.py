"""The tree of a module's source, parsed once for all that only read it."""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(maxsize=4)
def parsed(source: str) -> ast.Module:
    """Parse the source of a module. Nobody may change the tree.

    Raises:
        SyntaxError: It is not Python.
        ValueError: It has a null byte.
    """
    return ast.parse(source)
