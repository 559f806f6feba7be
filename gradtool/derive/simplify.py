"""Rewriting of an operation as it is made: ones and double negations go, numbers are gathered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradtool.derive.expression import Expression, Graph


def simplified(
    graph: Graph, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Expression | None:
    """Return a simpler expression for the same value; None if there is none."""
    if name in _PASSING_SIGNS and args and _is(args[0], "neg"):
        passed = graph.call("method", name, (args[0].args[0], *args[1:]), kwargs)
        return graph.operator("neg", passed)
    if name in _RULES and not kwargs:
        found = _RULES[name](graph, *args)
        return found if isinstance(found, Expression) else None
    return None


def _number(value: Any) -> bool:
    return type(value) in {int, float}


def _is(value: Any, name: str) -> bool:
    return isinstance(value, Expression) and value.kind == "operator" and value.name == name


def _add(graph: Graph, left: Any, right: Any) -> Any:
    if _number(right) and right == 0:
        return left
    if _number(left) and left == 0:
        return right
    if left is right:
        return graph.operator("mul", 2, left)
    if _is(right, "neg"):
        return graph.operator("sub", left, right.args[0])
    if _is(left, "neg"):
        return graph.operator("sub", right, left.args[0])
    return None


def _sub(graph: Graph, left: Any, right: Any) -> Any:
    if _number(right) and right == 0:
        return left
    if _is(right, "neg"):
        return graph.operator("add", left, right.args[0])
    return None


def _mul(graph: Graph, left: Any, right: Any) -> Any:
    if _number(right) and not _number(left):
        left, right = right, left
        if left == 1:
            return right
        return graph.operator("mul", left, right)
    if _number(left):
        return _times(graph, left, right)
    if _is(left, "neg") or _is(right, "neg"):
        sides = [each.args[0] if _is(each, "neg") else each for each in (left, right)]
        product = graph.operator("mul", *sides)
        return product if _is(left, "neg") and _is(right, "neg") else graph.operator("neg", product)
    cancelled = _without_divisor(graph, left, right)
    if cancelled is not None:
        return cancelled
    for one, other in ((left, right), (right, left)):
        if _is(one, "mul") and _number(one.args[0]):
            inner = (one.args[1], other) if one is left else (other, one.args[1])
            return graph.operator("mul", one.args[0], graph.operator("mul", *inner))
    if _is(left, "div") and not _is(right, "div") and _number(left.args[1]):
        return graph.operator("div", graph.operator("mul", left.args[0], right), left.args[1])
    return None


def _without_divisor(graph: Graph, value: Any, divisor: Any) -> Any:
    """The product or quotient `value` without its division by a plain number; None if it has none.

    Only numbers cancel: a tensor may be what gives the quotient its shape.
    """
    is_plain = isinstance(divisor, Expression) and type(divisor.value) in {int, float}
    if not is_plain or not (_is(value, "mul") or _is(value, "div")):
        return None
    left, right = value.args
    if value.name == "div" and right is divisor:
        return left
    inner = _without_divisor(graph, left, divisor)
    return None if inner is None else graph.operator(value.name, inner, right)


def _times(graph: Graph, number: Any, other: Any) -> Any:
    if number == 1:
        return other
    if number == -1:
        return graph.operator("neg", other)
    if _is(other, "mul") and _number(other.args[0]):
        return graph.operator("mul", number * other.args[0], other.args[1])
    if _is(other, "neg"):
        return graph.operator("neg", graph.operator("mul", number, other.args[0]))
    inner, rest = _leading_number(graph, other)
    if number * inner in {1, -1}:
        return rest if number * inner == 1 else graph.operator("neg", rest)
    return None


def _leading_number(graph: Graph, value: Any) -> tuple[Any, Any]:
    """The number that a product or quotient begins with, one if it is none, and the rest."""
    if not (_is(value, "mul") or _is(value, "div")):
        return 1, value
    left, right = value.args
    if _number(left) and value.name == "mul":
        return left, right
    number, rest = _leading_number(graph, left)
    return (1, value) if number == 1 else (number, graph.operator(value.name, rest, right))


def _div(graph: Graph, left: Any, right: Any) -> Any:
    if _number(right) and right == 1:
        return left
    if _is(left, "neg"):
        return graph.operator("neg", graph.operator("div", left.args[0], right))
    return None


def _neg(graph: Graph, value: Any) -> Any:
    if _is(value, "neg"):
        return value.args[0]
    if _is(value, "sub"):
        return graph.operator("sub", value.args[1], value.args[0])
    return None


def _pow(_: Graph, base: Any, exponent: Any) -> Any:
    return base if _number(exponent) and exponent == 1 else None


_PASSING_SIGNS = frozenset({"expand", "reshape", "squeeze", "sum", "transpose", "unsqueeze"})
"""Methods before which a sign may as well come after them."""

_RULES: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow": _pow,
}
