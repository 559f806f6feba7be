"""Code as a sentence shows it: short, and without what the parser adds."""

from __future__ import annotations

import ast

_MOST_CHARACTERS = 72
"""Characters of an expression that a sentence still holds."""


def code_of(node: ast.AST) -> str:
    """Return the code of a node, a tuple without its parentheses."""
    code = ast.unparse(ast.fix_missing_locations(node))
    return code.strip("()") if isinstance(node, ast.Tuple) else code


def shortened(code: str, other: str = "") -> str:
    """Return the code with its middle left out, if it is long.

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
