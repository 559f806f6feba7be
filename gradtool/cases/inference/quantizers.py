"""Numbers of quantizers, as their rounding shows: steps, offsets and levels.

In ``clamp(round(x / step) + zero, 0, top)`` the step is positive, the last level is a whole number,
and the offset is one of the levels, so that not everything is clamped.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator

from gradtool.adapters.common.parsed_source import walked
from gradtool.cases.inference.bounds import clamp_bounds

Range = tuple[float, float]

_ROUNDS = {"round", "floor", "ceil", "trunc"}
_CLAMPS = {"clamp", "clamp_", "clip"}

_STEP: Range = (0.25, 1.0)
"""Sizes of steps by which standard normal values have several levels."""

_LEVELS = 15
"""Steps between the bounds of a quantizer of 4 bits."""


_OF_LEVELS = re.compile(
    r"(.*_)?(levels?(_(low|high|min|max))?|q_?(min|max)|quant_?(min|max)|qn|qp|(n_?|num_?)?bits?)"
)
"""Matches names of what only a quantizer has: its levels, their ends or their bits."""

_POSITIVE = re.compile(r"(.*_)?(scales?|steps?(_size)?|ranges?|delta)")

_NEGATIVE = re.compile(r"(input|in|x|range|clip|r)_(low|min)")


def ranges_beside_levels(names: Collection[str]) -> dict[str, Range]:
    """The ranges of scales, steps and ends of the range of a quantizer, by their names."""
    if not any(map(_OF_LEVELS.fullmatch, names)):
        return {}
    low, high = _STEP
    positive = dict.fromkeys(filter(_POSITIVE.fullmatch, names), _STEP)
    return positive | dict.fromkeys(filter(_NEGATIVE.fullmatch, names), (-high, -low))


def levels(node: ast.AST, names: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield the upper bounds of what was rounded before, with a whole number for each."""
    for _, low, high in _clamps(node, names):
        yield high, low + _LEVELS


def ranges_of_quantizers(node: ast.AST, names: Collection[str]) -> dict[str, Range]:
    """The ranges of steps, and of offsets that are added before a clamp to the levels."""
    found: dict[str, Range] = {}
    divisors = _Traced(node, _divisor, names)
    for call in walked(node):
        if _rounds(call):
            found |= dict.fromkeys(divisors.within(call), _STEP)
    addends = _Traced(node, _addend, names)
    for call, low, _ in _clamps(node, names):
        middle = low + _LEVELS / 2
        found |= dict.fromkeys(addends.within(call), (middle - 1.0, middle + 1.0))
    return found


def _clamps(node: ast.AST, names: Collection[str]) -> Iterator[tuple[ast.Call, int, str]]:
    """Yield clamps of what was rounded to a whole number and a parameter, with both."""
    rounded = _Traced(node, lambda each: "rounded" if _rounds(each) else None, {"rounded"})
    for call in walked(node):
        if isinstance(call, ast.Call) and _called(call) in _CLAMPS and rounded.within(call):
            for low, high in clamp_bounds(ast.Expression(call), names):
                if isinstance(low, float) and low.is_integer() and high in names:
                    yield call, int(low), str(high)


class _Traced:
    """Marks of expressions, which pass on to the local names that are assigned these."""

    def __init__(self, body: ast.AST, mark: Callable[[ast.AST], str | None], of: Collection[str]):
        self._mark = mark
        self._of = of
        self._by_name: dict[str, set[str]] = {}
        for found in walked(body):
            match found:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in of:
                    self._by_name.setdefault(name, set()).update(self.within(value))

    def within(self, node: ast.AST) -> set[str]:
        """The marks within an expression."""
        marks = set[str]()
        for each in ast.walk(node):
            if isinstance(each, ast.Name):
                marks |= self._by_name.get(each.id, set())
            if (mark := self._mark(each)) in self._of:
                marks.add(str(mark))
        return marks


def _rounds(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _called(node) in _ROUNDS


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _divisor(node: ast.AST) -> str | None:
    match node:
        case ast.BinOp(op=ast.Div(), right=right):
            return _root(right)
    return None


def _addend(node: ast.AST) -> str | None:
    match node:
        case ast.BinOp(op=ast.Add(), right=right):
            return _root(right)
    return None


def _root(node: ast.expr) -> str | None:
    """The name ``x`` of ``x`` and of ``x.detach().view(-1, 1)``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node.id if isinstance(node, ast.Name) else None
