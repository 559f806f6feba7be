"""Operators and functions that are taken for each other, in forward as in backward."""

from __future__ import annotations

import ast
from collections.abc import Sequence

INVERSE: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
"""The operator that undoes another one."""

_PAIRS: Sequence[tuple[str, str]] = (
    ("sum", "mean"),
    ("sin", "cos"),
    ("sinh", "cosh"),
    ("tanh", "sigmoid"),
    ("sqrt", "rsqrt"),
    ("sqrt", "square"),
    ("log", "log2"),
    ("log", "log10"),
    ("log", "log1p"),
    ("exp", "exp2"),
    ("exp", "expm1"),
    ("amax", "amin"),
    ("amax", "logsumexp"),
    ("softmax", "log_softmax"),
    ("std", "var"),
    ("relu", "abs"),
    ("maximum", "minimum"),
    ("cumsum", "cumprod"),
    ("cummax", "cummin"),
    ("argmax", "argmin"),
    ("floor", "ceil"),
    ("asin", "acos"),
    ("asinh", "acosh"),
    ("atan", "atanh"),
    ("erf", "erfc"),
    ("erfc", "erfcx"),
    ("i0", "i0e"),
    ("i1", "i1e"),
    ("i0", "i1"),
    ("i0e", "i1e"),
    ("lgamma", "digamma"),
)


def counterparts(name: str) -> list[str]:
    """Return the functions that one is taken for."""
    return [pair[1 - pair.index(name)] for pair in _PAIRS if name in pair]
