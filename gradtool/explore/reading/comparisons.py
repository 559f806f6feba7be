"""Comparisons and limits in the source of a Function, whose both sides are worth a try."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of, walked
from gradtool.explore.reading.names import is_guard
from gradtool.explore.reading.source import forward_names, forward_nodes, nodes, ranges, trees

_LIMITERS = {"clamp", "clip", "clamp_min", "clamp_max", "clamp_", "threshold", "hardtanh", "where"}

_LEAST_THRESHOLD, _LARGEST_THRESHOLD = 1e-3, 1e4
"""What is compared with a smaller number guards a division; a larger one is a mark, not a limit."""

_LEAST_GUARD, LARGEST_GUARD = 1e-10, 1e-2
"""The size below which a formula may be replaced by its limit at zero."""

_LEAST_FLOOR = 1e-10
"""The floor of a logarithm that is smaller only guards against the logarithm of zero."""

_OF_ONE_SIZE = {"abs", "float", "item", "math", "torch"}
"""What turns one variable into its size, as in ``abs(float(x))``."""

_NANS = {"isnan", "isfinite", "nan_to_num"}

_LOGARITHMS = {"log", "log10", "log2"}

_ORDERS = re.compile(
    r"a?(min|max)|arg(min|max|sort)|aminmax|(min|max)imum|f(min|max)|cum(min|max)|m?sort|topk|"
    r"kthvalue|(nan)?(median|quantile)|mode|unique\w*|\w*max_pool\w*|searchsorted|bucketize|"
    r"scatter_reduce\w*|segment_reduce|index_reduce\w*|sign|isclose|histc|inf"
)
"""Operations whose result depends on which of some entries is larger, and a norm that may do so."""

_PLAIN_CALLS = {"range", "reversed", "len", "int", "float", "bool", "zip", "enumerate", "tuple"}


def tested_near_zero(function: Any) -> set[str]:
    """The names of what forward compares with zero, or its size with a tiny number.

    There a formula is replaced by its limit, of which backward needs the derivative too.
    """
    tiny = {name for node in forward_nodes(function) for name in _with_tiny_size(node)}
    found = compared_with_zero(function, ast.Eq, ast.NotEq) | tiny
    numbers = dict(_numbers_of_tensors(function))
    return found | {numbers[name] for name in found if name in numbers}


def tested_for_nan(function: Any) -> set[str]:
    """The names of what forward asks whether it is NaN, or finite."""
    found: set[str] = set()
    for node in forward_nodes(function):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in _NANS:
                subject = args[0] if args and isinstance(args[0], ast.Name) else owner
                found |= {subject.id} if isinstance(subject, ast.Name) else set()
            case ast.Compare(left=ast.Name(id=one), comparators=[ast.Name(id=other)]) if (
                one == other
            ):
                found.add(one)
    return found


def _numbers_of_tensors(function: Any) -> Iterator[tuple[str, str]]:
    """Each name of a number that forward takes from a tensor, and that of the tensor."""
    for node in forward_nodes(function):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=number)],
                value=ast.Call(func=ast.Name(id="float"), args=[ast.Name(id=tensor)])
                | ast.Call(func=ast.Attribute(value=ast.Name(id=tensor), attr="item")),
            ):
                yield number, tensor


def compared_with_zero(function: Any, *operators: type[ast.cmpop]) -> set[str]:
    """The names that forward compares with zero by some operators."""
    found: set[str] = set()
    for node in forward_nodes(function):
        match node:
            case ast.Compare(
                left=ast.Name(id=name)
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="item"))
                | ast.Call(func=ast.Name(id="float"), args=[ast.Name(id=name)]),
                ops=[operator],
                comparators=[ast.Constant(value=0)],
            ) if isinstance(operator, operators):
                found.add(name)
    return found


def numbered_choices(function: Any) -> set[str]:
    """The names that forward tests for one of several positive numbers, as choices by number."""
    numbers = defaultdict[str, set[int]](set)
    for node in forward_nodes(function):
        match node:
            case ast.Compare(
                left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant(value=int(n))]
            ) if n > 0:
                numbers[name].add(n)
    return {name for name, found in numbers.items() if len(found) > 1}


def loop_counts(function: Any) -> set[str]:
    """The names that forward passes to ``range``, to which no negative number means anything."""
    forward = forward_of(function)
    return {each.id for args in ranges(forward) for each in args[:2] if isinstance(each, ast.Name)}


def axis_counts(function: Any) -> set[str]:
    """The names of numbers of axes, from which on forward goes through the others of a tensor."""
    return {
        args[0].id
        for args in ranges(forward_of(function))
        if len(args) > 1 and isinstance(args[0], ast.Name)
        if ast.unparse(args[1]).endswith((".dim()", ".ndim"))
    }


def _with_tiny_size(node: ast.AST) -> Iterator[str]:
    """The names whose size a comparison compares with a tiny number."""
    match node:
        case ast.Compare(
            left=left,
            ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()],
            comparators=[ast.Constant(value=float(limit))],
        ) if limit <= LARGEST_GUARD:
            names = {each.id for each in ast.walk(left) if isinstance(each, ast.Name)}
            calls = {each.attr for each in ast.walk(left) if isinstance(each, ast.Attribute)}
            if "abs" in names | calls and calls <= _OF_ONE_SIZE:
                yield from names - _OF_ONE_SIZE


def compares_entries(function: Any) -> bool:
    """Return True unless no entries of tensors are ordered or compared, as far as is known."""
    return any(map(_may_compare, nodes(function)))


def guards_divisions(function: Any) -> bool:
    """Return True for a forward that does something else near zero, or keeps a divisor from it."""
    return any(map(_is_guard, forward_nodes(function)))


def _is_guard(node: ast.AST) -> bool:
    match node:
        case ast.Compare(comparators=[ast.Constant(value=int() | float())]):
            return True
        case ast.Constant(value=float(number)):
            return 0 < abs(number) <= LARGEST_GUARD
        case ast.Attribute(attr=name):
            return name in _LIMITERS | {"maximum", "nan_to_num", "masked_fill"} or is_guard(name)
        case ast.Name(id=name):
            return is_guard(name)
    return False


def takes_sizes(function: Any) -> bool:
    """Return True for a forward that takes absolute values."""
    return forward_names(function, "abs")


def _may_compare(node: ast.AST) -> bool:
    match node:
        case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]):
            return False
        case ast.Compare(left=left, comparators=others):
            return not any(isinstance(each, ast.Constant) for each in (left, *others))
        case ast.Call(func=ast.Name(id=name)):  # Whatever the user's own functions do.
            return name not in _PLAIN_CALLS
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return (owner[0].isupper() and owner != "F") or bool(_ORDERS.fullmatch(name))
        case ast.Attribute(attr=name):
            return bool(_ORDERS.fullmatch(name))
    return False


def thresholds(function: Any) -> list[float]:
    """Numbers other than 0 that the source compares with, or limits something to."""
    found = {abs(n) for n in _compared(function)}
    return sorted(n for n in found if _LEAST_THRESHOLD < n < _LARGEST_THRESHOLD)


def guards(function: Any) -> list[float]:
    """Small numbers that the source compares with, below which another formula may have digits."""
    return sorted({abs(n) for n in _compared(function) if _LEAST_GUARD < abs(n) < LARGEST_GUARD})


def _compared(function: Any) -> Iterator[float]:
    for node in nodes(function):
        operands: list[ast.expr] = []
        match node:
            case ast.Compare(left=left, comparators=others):
                operands = [left, *others]
            case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords) if (
                name in _LIMITERS
            ):
                operands = [*args, *(keyword.value for keyword in keywords)]
        for operand in operands:
            yield from _number(operand, function)


def _number(node: ast.expr, function: Any) -> Iterator[float]:
    """The number that an expression is, or that a variable of the class or module holds."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            yield from _number(inner, function)
            return
        case ast.Constant(value=value):
            pass
        case ast.Name(id=name):
            method = inspect.unwrap(forward_of(function))
            value = getattr(method, "__globals__", {}).get(name)
        case ast.Attribute(attr=name):
            value = getattr(function, name, None)
        case _:
            return
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def tested_for_truth(function: Any) -> set[str]:
    """Names of which the source takes a number's truth, as ``if ctx.limit``: zero is like None."""
    return {name for node in nodes(function) for test in _tests(node) for name in _name_of(test)}


def _tests(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.UnaryOp(op=ast.Not(), operand=test):
            return [test]
        case ast.BoolOp(values=values):
            return values
    return []


def _name_of(node: ast.expr) -> list[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            return [name]
    return []


def tested_for_none(function: Any) -> set[str]:
    """Names that forward compares with None."""
    parts = forward_nodes(function)
    return {name for node in parts for name in compared_with_none(node)}


def compared_with_none(node: ast.AST) -> list[str]:
    """The variable that an expression compares with None, if it is such a comparison."""
    match node:
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[ast.Is() | ast.IsNot()],
            comparators=[ast.Constant(value=None)],
        ):
            return [name]
    return []


def floors_of_logarithms(function: Any) -> set[float]:
    """Numbers to which forward limits something of which it takes the logarithm."""
    found: set[float] = set()
    for tree in trees(forward_of(function)):
        limited = dict(_limited(tree, function))
        for node in walked(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr not in _LOGARITHMS:
                    continue
                inner = [node.func.value, *node.args]
                found |= {n for each in inner for n in _limits_within(each, function)}
                names = {each.id for each in inner if isinstance(each, ast.Name)}
                found |= {n for name in names for n in limited.get(name, ())}
    return {n for n in found if _LEAST_FLOOR <= n <= _LEAST_THRESHOLD}


def _limited(tree: ast.AST, function: Any) -> Iterator[tuple[str, list[float]]]:
    """The variables that hold something limited, with its limits."""
    for node in walked(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, list(_limits_within(value, function))


def _limits_within(tree: ast.AST, function: Any) -> Iterator[float]:
    """Numbers, but no guards by their names, in calls that limit something."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords) if (
                name in _LIMITERS | {"maximum"}
            ):
                for each in (*args, *(keyword.value for keyword in keywords)):
                    named = getattr(each, "id", getattr(each, "attr", ""))
                    yield from () if is_guard(named) else _number(each, function)
