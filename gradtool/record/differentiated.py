"""The arguments that a backward may return a gradient for, read without an import."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

from gradtool.cases.inference.clues import always_none
from gradtool.cases.inference.plain_uses import FunctionNode


@lru_cache(maxsize=64)
def differentiated(file: Path, function: str) -> frozenset[int]:
    """The positions of these arguments; none where the source does not show it."""
    try:
        found: ast.AST = ast.parse(file.read_bytes())
        for name in function.split("."):
            found = next(
                node
                for node in ast.iter_child_nodes(found)
                if isinstance(node, ast.ClassDef) and node.name == name
            )
    except (OSError, SyntaxError, ValueError, StopIteration):
        return frozenset()
    methods = {each.name: each for each in found.body if isinstance(each, FunctionNode)}  # type: ignore[attr-defined]  # a class
    if not {"forward", "backward"} <= methods.keys():
        return frozenset()
    first = 0 if "setup_context" in methods else 1
    names = [each.arg for each in methods["forward"].args.args[first:]]
    never = set(always_none(methods["backward"], names))
    return frozenset(at for at, name in enumerate(names) if name not in never)
