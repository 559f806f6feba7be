"""Dtypes that a mask may have beside that of the case."""

from __future__ import annotations

import ast
import re
from typing import Any

from gradtool.explore.reading.comparisons import compared_with_zero
from gradtool.explore.reading.wording import wording

_DTYPE = (
    r"(?:torch\.)?(?:bool(?:ean)?|u?int(?:8|32|64|eger)?|byte|long|float(?:32|64)?|double)\b"
    r"|\{?\b0(?:\.0)?(?:/|, ?)1\b(?:\.0)?\}?"
)
_LIST = re.compile(
    rf"(?:{_DTYPE})(?:`*(?: tensors?)?(?:,? or an? |,? or |, ?|/| ?\| ?)`*(?:{_DTYPE}))+"
)
"""Matches ``bool, uint8 or float`` and ``boolean or 0/1``."""

_NAMED = (
    ("bool", re.compile(r"bool")),
    ("uint8", re.compile(r"uint8|byte|/1|, ?1")),
    ("int64", re.compile(r"(?<!u)int|long")),
    ("float64", re.compile(r"float|double")),
)
"""Dtypes by what calls them in a list."""

_CLAUSES = re.compile(r"[.;]\s|\n\s*\n")


def mask_dtypes(function: Any, name: str) -> list[str]:
    """The dtypes that a docstring lists for a mask, or the one that a test of forward suggests.

    A mask that is compared with zero need not be boolean, unless a docstring says so.
    """
    clauses = [
        clause
        for clause in _CLAUSES.split(wording(function).docstrings)
        if re.search(rf"\b{re.escape(name)}\b", clause)
    ]
    lists = [match[0] for clause in clauses for match in _LIST.finditer(clause)]
    listed = [dtype for dtype, word in _NAMED if any(map(word.search, lists))]
    if "bool" in listed:
        return listed
    is_tested = name in compared_with_zero(function, ast.Eq, ast.NotEq, ast.Gt)
    is_boolean = any("bool" in clause for clause in clauses)
    return ["uint8"] if is_tested and not is_boolean else []
