"""Inequalities between expressions of the arguments, as docstrings write them out."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

from gradtool.explore.reading.expressions import is_expression, named, value
from gradtool.explore.reading.stated_values import SELECTING

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    "\u2264": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "\u2265": np.greater_equal,
    "!=": np.not_equal,
    "\u2260": np.not_equal,
}
_SIGN = re.compile(r"[<>!]=|[<>\u2264\u2265\u2260]")
_END = re.compile(r"[;:`'\"\n]|\.(?!\d)|[<>!]=|[<>\u2264\u2265\u2260]")
"""Matches what no side of an inequality contains."""

_STARTS = re.compile(r"(?<![\w.])[-(\w]")
_STOPS = re.compile(r"[\w)](?![\w.(])")

Inequality = Callable[[Mapping[str, Any]], bool]
"""Tells from the values of the arguments whether it holds everywhere."""


def inequalities(text: str, names: Collection[str]) -> Iterator[Inequality]:
    """Yield the inequalities that a text states of arguments, such as ``c > max(F - K, 0)``.

    Not those of a name and a number, of which there may be several to choose from.
    """
    for sign in _SIGN.finditer(text):
        before = text[: sign.start()]
        left = _longest(_starts(before), names)
        right = _longest(_stops(text[sign.end() :]), names)
        if left is None or right is None or not named(left) | named(right):
            continue
        if _is_selecting(before, left):
            continue
        if not (_is_plain(left) and _is_plain(right)) or len(named(left) | named(right)) > 1:
            yield _Holds(left, _COMPARISONS[sign.group()], right)


def _is_selecting(before: str, left: ast.expr) -> bool:
    """Return True for a condition on some of the entries, as in ``averaged over x != y``."""
    words = re.findall(r"\w+", before)
    count = len(re.findall(r"\w+", ast.unparse(left)))
    return not SELECTING.isdisjoint(each.lower() for each in words[-count - 1 : -count])


class _Holds:
    def __init__(self, left: ast.expr, compare: Callable[[Any, Any], Any], right: ast.expr) -> None:
        self._sides, self._compare = (left, right), compare

    def __call__(self, values: Mapping[str, Any]) -> bool:
        try:
            with np.errstate(all="ignore"):
                return bool(np.all(self._compare(*(value(each, values) for each in self._sides))))
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            # One is left out, or the shapes differ.
            return True


def _starts(before: str) -> Iterator[str]:
    """Yield what may be the left side, the longest first."""
    ends = [match.end() for match in _END.finditer(before)]
    part = before[ends[-1] if ends else 0 :]
    yield from (part[match.start() :] for match in _STARTS.finditer(part))


def _stops(after: str) -> Iterator[str]:
    """Yield what may be the right side, the longest first."""
    end = _END.search(after)
    part = after[: end.start()] if end else after
    yield from (part[: match.end()] for match in reversed([*_STOPS.finditer(part)]))


def _longest(sides: Iterator[str], names: Collection[str]) -> ast.expr | None:
    """Return the first that is an expression of arguments and numbers."""
    for side in sides:
        try:
            tree = ast.parse(side.strip().replace("^", "**"), mode="eval").body
        except (SyntaxError, ValueError):
            continue
        if is_expression(tree) and named(tree) <= set(names):
            return tree
    return None


def _is_plain(tree: ast.expr) -> bool:
    """Return True for a name or a number, which may be negative."""
    return isinstance(
        tree.operand if isinstance(tree, ast.UnaryOp) else tree, ast.Name | ast.Constant
    )
