"""Lower and upper bounds, between which values lie: by their names, by clamps, and by domains."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from gradtool.adapters.common.parsed_source import walked

_END = r"(_?(val|value|bound|limit)|_[a-z])?s?"
_LOWER = re.compile(r"(?P<of>.*_)?(min|minimum|low|lower|lo|floor)" + _END)
_UPPER = re.compile(r"(?P<of>.*_)?(max|maximum|high|upper|hi|ceil)" + _END)

_BELOW, _ABOVE = (-1.0, -0.25), (0.25, 1.0)
"""Ranges for a lower and an upper bound, each on its side of most standard normal values."""

_OF_SQUARES = (0.25, 2.0)
"""Range for a squared distance, whose root may be taken."""


_SQUARED_DISTANCE = re.compile(
    r"(d|dist|distance)s?2|(d|r|dist|distance|radius)s?_?sq(uared?)?"
    r"|sq(uared?)?_?(d|r|dist|distance|radius|radii)s?"
)


def side(name: str) -> tuple[float, float] | None:
    """Return a range for a bound or a squared distance by its name; None for others."""
    if _SQUARED_DISTANCE.fullmatch(name):
        return _OF_SQUARES
    if _LOWER.fullmatch(name):
        return _BELOW
    return _ABOVE if _UPPER.fullmatch(name) else None


def are_bounds(lower: str, upper: str) -> bool:
    """Return True for a lower and an upper bound of the same: ``x_min`` and ``x_max``."""
    low, high = _LOWER.fullmatch(lower), _UPPER.fullmatch(upper)
    return bool(low and high and low["of"] == high["of"])


_CLAMPS = {"clamp", "clamp_", "clip"}

Bound = str | float
"""The name of a parameter, or a number."""

_OFF_ZERO, _WIDTH = 0.25, 0.75
"""Least distance and range of the values of a bound from the number on the other side."""


def clamp_bounds(node: ast.AST, names: Collection[str]) -> Iterator[tuple[Bound, Bound]]:
    """Yield the lower and the upper bound of each clamp in a body to one or two parameters.

    A clamp to ``-a`` and ``a`` says that ``a`` is at least 0.
    """
    for call in walked(node):
        if not isinstance(call, ast.Call) or (given := _given(call)) is None:
            continue
        ends = dict(zip(("min", "max"), given, strict=False))
        ends |= {each.arg: each.value for each in call.keywords if each.arg}
        low, high = (_bound(ends.get(end), names) for end in ("min", "max"))
        if isinstance(low, str) and low == f"-{high}":
            low = 0.0
        if low is not None and high is not None and {low, high} & set(names):
            yield low, high


def _given(call: ast.Call) -> list[ast.expr] | None:
    """The arguments of a clamp behind its operand, which a method does not have; None for others.

    A helper of the user's may clamp, too.
    """
    match call.func:
        case ast.Attribute(value=ast.Name(id="torch"), attr=name) | ast.Name(id=name):
            return call.args[1:] if name in _CLAMPS else None
        case ast.Attribute(attr=name):
            return call.args if name in _CLAMPS else None
    return None


def _bound(node: ast.expr | None, names: Collection[str]) -> Bound | None:
    match node:
        case ast.Name(id=name) if name in names:
            return name
        case ast.Call(func=ast.Attribute(value=value, attr="item" | "to" | "type_as" | "detach")):
            return _bound(value, names)
        case ast.Attribute(value=value, attr="data"):
            return _bound(value, names)
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            positive = _bound(operand, names)
            if isinstance(positive, float):
                return -positive
            return None if positive is None else f"-{positive}"
    return None


def interval_bounds(node: ast.AST, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the bounds of each interval in a body: ``a`` and ``b`` of ``(x >= a) & (x <= b)``.

    What lies outside is an interval, too: ``(x < a) | (x > b)``.
    """
    for found in walked(node):
        match found:
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.Mult(), right=right):
                is_inside = True
            case ast.BinOp(left=left, op=ast.BitOr() | ast.Add(), right=right):
                is_inside = False
            case _:
                continue
        one, other = _comparison(left, names), _comparison(right, names)
        if one and other and one[0] == other[0] and {one[1], other[1]} == {"above", "below"}:
            ends = {one[1]: one[2], other[1]: other[2]}
            low, high = ends["above"], ends["below"]
            yield (low, high) if is_inside else (high, low)


def _comparison(node: ast.expr, names: Collection[str]) -> tuple[str, str, str] | None:
    """Return what is compared, ``above`` or ``below``, and the parameter that it is compared with.

    None for any other expression.
    """
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value  # Such as `float` of ``(x > a).float()``.
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[ast.Name(id=name)]) if (
            name in names
        ):
            if isinstance(operator, ast.Gt | ast.GtE):
                return ast.unparse(left), "above", name
            if isinstance(operator, ast.Lt | ast.LtE):
                return ast.unparse(left), "below", name
    return None


PLAIN_LOW, PLAIN_HIGH = -0.5, 0.75
"""A lower and an upper bound that are numbers."""


def ranges(bounds: Collection[tuple[Bound, Bound]]) -> dict[str, tuple[float, float]]:
    """Return a range for each parameter that a clamp has beside a number or another parameter."""
    found: dict[str, tuple[float, float]] = {}
    for low, high in bounds:
        if isinstance(high, str) and isinstance(low, str) and not low.startswith("-"):
            found |= {low: _BELOW, high: _ABOVE}
        elif isinstance(high, str) and isinstance(low, float):
            found[high] = low + _OFF_ZERO, low + _OFF_ZERO + _WIDTH
        elif isinstance(low, str) and isinstance(high, float):
            found[low] = high - _OFF_ZERO - _WIDTH, high - _OFF_ZERO
    return found


_DOMAINS = {
    **dict.fromkeys(
        ("acos", "arccos", "arcsin", "arctanh", "asin", "atanh", "erfinv"), (-0.9, 0.9)
    ),
    "logit": (0.1, 0.9),
}
"""Ranges well within the domains of functions."""


def clamped_domains(
    node: ast.AST, names: Collection[str]
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the domain of each parameter that is clamped to it: ``acos(x.clamp(-1, 1))``.

    The clamp is for rounding errors. Beyond the domain, any gradient may be meant.
    """
    assigned = {
        each.targets[0].id: each.value
        for each in walked(node)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }
    for call in walked(node):
        operand, function = _operand(call)
        if function in _DOMAINS:
            if isinstance(operand, ast.Name):
                operand = assigned.get(operand.id)
            clamped, clamp = _operand(operand)
            if clamp in _CLAMPS and isinstance(clamped, ast.Name) and clamped.id in names:
                yield clamped.id, _DOMAINS[function]


def _operand(call: ast.AST | None) -> tuple[ast.expr | None, str]:
    """The operand ``x`` of ``x.acos()`` and ``torch.acos(x)``, and the name ``acos``."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name), args=[of, *_]):
            return of, name
        case ast.Call(func=ast.Attribute(value=of, attr=name)):
            return of, name
    return None, ""
