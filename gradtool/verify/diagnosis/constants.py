"""A constant that one method of a Function has with fewer digits than the other.

The numbers of a method are its literals, and what is computed from literals and `math` alone:
``0.5 * math.sqrt(2 / math.pi)``. Names that the module, or a class in it, binds to such a number
count as it.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from gradtool.verify.diagnosis.methods import method_trees, module_tree
from gradtool.verify.protocol.observation import SourceLine
from gradtool.verify.thresholds.diagnosis import HIGHEST_POWER, TELLING_DIGITS
from gradtool.verify.thresholds.rules import SAME_CONSTANT

_FORWARD, _BACKWARD = ("forward", "setup_context"), ("backward", "vjp")

_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}

_KNOWN = {
    "pi": math.pi,
    "e": math.e,
    "log(2)": math.log(2),
    "log(10)": math.log(10),
    "1 / log(2)": 1 / math.log(2),
    "1 / log(10)": 1 / math.log(10),
    "sqrt(2)": math.sqrt(2),
    "1 / sqrt(2)": math.sqrt(0.5),
    "sqrt(pi)": math.sqrt(math.pi),
    "2 / sqrt(pi)": 2 / math.sqrt(math.pi),
    "sqrt(2 / pi)": math.sqrt(2 / math.pi),
    "sqrt(2 * pi)": math.sqrt(2 * math.pi),
    "1 / sqrt(2 * pi)": 1 / math.sqrt(2 * math.pi),
    "log(2 * pi)": math.log(2 * math.pi),
}
"""Numbers that operations of the engine have in them, by their usual names."""


class Number(msgspec.Struct, frozen=True):
    """A number in the source, as it is written there."""

    text: str
    value: float


def truncated_constant(lines: frozenset[SourceLine]) -> str | None:
    """Word the constant of backward that is not that of forward; None if there is none.

    Args:
        lines: The lines of the Function's methods.
    """
    forward, backward = (list(_numbers(lines, names)) for names in (_FORWARD, _BACKWARD))
    own = {number.value for number in forward}
    for number in backward:
        for other in forward:
            if _is_truncated(number, other) or _is_truncated(other, number):
                return f"{number.text} is used where forward has {_worded(other)}"
            for multiple in _multiples(other):
                if _is_truncated(number, multiple):
                    return f"{number.text} is used where the derivative has {_worded(multiple)}"
        for name, value in _KNOWN.items():
            if number.value not in own and _is_truncated(number, Number(name, value)):
                return f"{number.text} is used instead of {name} = {value:.10g}"
    return None


def _multiples(number: Number) -> Iterator[Number]:
    """Yield what a constant becomes under a power: ``3 * 0.044715``."""
    if _is_decimal(number.text) and len(Decimal(number.text).as_tuple().digits) >= TELLING_DIGITS:
        for times in range(2, HIGHEST_POWER + 1):
            yield Number(f"{times} * {number.text}", times * number.value)


def _worded(number: Number) -> str:
    """A number as it is written, and its value where that is computed."""
    return number.text if _is_decimal(number.text) else f"{number.text} = {number.value:.10g}"


def _is_truncated(short: Number, full: Number) -> bool:
    """Return True if the one is the other to fewer digits, rounded or cut off."""
    if short.value == full.value or not _is_decimal(short.text) or short.value == int(short.value):
        return False
    unit = float(Decimal(1).scaleb(int(Decimal(short.text).as_tuple().exponent)))
    gap = abs(short.value - full.value)
    return gap < unit and gap <= SAME_CONSTANT * abs(full.value)


def _is_decimal(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except ArithmeticError:
        return False


def _numbers(lines: frozenset[SourceLine], methods: Sequence[str]) -> Iterator[Number]:
    """The numbers of some methods, those of names of the module and its classes included."""
    named = _named_numbers(lines)
    for tree in method_trees(lines, methods):
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute) and (name := ast.unparse(node)) in named:
                yield named[name]
            elif isinstance(node, ast.expr) and (value := _value(node)) is not None:
                yield Number(ast.unparse(node), value)


def _named_numbers(lines: frozenset[SourceLine]) -> dict[str, Number]:
    """The numbers that the module of the Function, or a class in it, gives names to."""
    found: dict[str, Number] = {}
    for tree in filter(None, map(module_tree, {line.path for line in lines})):
        found |= _assigned(tree.body)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                own = _assigned(node.body)
                found |= {f"{node.name}.{name}": number for name, number in own.items()}
    return found


def _assigned(body: Sequence[ast.stmt]) -> dict[str, Number]:
    return {
        node.targets[0].id: Number(ast.unparse(node.value), value)
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if (value := _value(node.value)) is not None
    }


def _value(node: ast.expr) -> float | None:
    """The value of an expression of numbers; None of any other."""
    try:
        value = _computed(node)
    except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError):
        return None
    return float(value) if math.isfinite(value) else None


def _computed(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=float() | int() as value) if not isinstance(value, bool):
            return value
        case ast.BinOp(left=left, op=op, right=right):
            return float(_OPERATORS[type(op)](_computed(left), _computed(right)))
        case ast.UnaryOp(op=op, operand=operand):
            return float(_OPERATORS[type(op)](_computed(operand)))
        case ast.Attribute(value=ast.Name(id="math" | "np" | "torch"), attr=name):
            return float(vars(math)[name])
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="math" | "np"), attr=name), args=args, keywords=[]
        ):
            return float(vars(math)[name](*map(_computed, args)))
    raise LookupError(node)
