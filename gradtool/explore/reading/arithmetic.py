"""Arithmetic in the source of a Function: divisions, differences, and conversions of dtypes."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.cases.inference.documentation import source
from gradtool.explore.reading.source import forward_names, forward_nodes, nodes, with_helpers
from gradtool.explore.reading.wording import wording

_VIEWS = {"unsqueeze", "view", "reshape", "t", "transpose", "gather", "index_select", "roll"}

_BYTES = {"uint8", "int8", "byte", "char"}


def reads_memory(function: Any) -> bool:
    """Return True if forward calls ``as_strided``, which does not mind the shape of a tensor."""
    return forward_names(function, "as_strided")


def keeps_bytes(function: Any) -> bool:
    """Return True for a source that converts something to integers of a byte."""
    return any(isinstance(node, ast.Attribute) and node.attr in _BYTES for node in nodes(function))


def edges(function: Any, names: Collection[str]) -> set[str]:
    """The arguments by which backward may divide, or of which it may take a logarithm.

    Not those by which forward divides. Where it has a derivative at zero, such a backward has none.
    """
    divides = any(
        _has_pole(node)
        for name in ("backward", "vjp")
        for node in nodes(getattr(function, name, None))
    )
    return set(names) - _divisors(function) if divides else set()


def _has_pole(node: ast.AST) -> bool:
    """Return True for a quotient, a logarithm, or a power that may be negative."""
    match node:
        case ast.BinOp(op=ast.Div()) | ast.AugAssign(op=ast.Div()):
            return True
        case ast.BinOp(op=ast.Pow(), right=right):
            return not isinstance(right, ast.Constant)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _POLES
    return False


_POLES = {"log", "log2", "log10", "rsqrt", "reciprocal"}


def _divisors(function: Any) -> set[str]:
    """The names in what forward divides by."""
    return {
        name.id
        for node in forward_nodes(function)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        for name in ast.walk(node.right)
        if isinstance(name, ast.Name)
    }


def is_exact_near_zero(function: Any) -> bool:
    """Return True for a forward with ``expm1`` or ``log1p``, which keep digits of small numbers.

    In a softplus, ``log1p`` of an exponential is about large ones.
    """
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr == "expm1" or (node.func.attr == "log1p" and not _exponential(node)))
        for each in with_helpers(forward_of(function))
        for node in nodes(each)
    )


def _exponential(call: ast.Call) -> bool:
    """Return True for a call that takes an exponential."""
    return any(isinstance(node, ast.Attribute) and node.attr == "exp" for node in ast.walk(call))


def exponents(function: Any) -> set[str]:
    """Names in exponents of powers that forward takes."""
    powers = [
        node.right
        for node in forward_nodes(function)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
    ]
    powers += [
        node.args[-1]
        for node in forward_nodes(function)
        if isinstance(node, ast.Call) and node.args
        if isinstance(node.func, ast.Attribute) and node.func.attr == "pow"
    ]
    return {name.id for each in powers for name in ast.walk(each) if isinstance(name, ast.Name)}


def diagonals(function: Any) -> set[str]:
    """Names of diagonals: of what forward passes to ``tril``, ``triu`` and the like."""
    return {
        name.id
        for node in forward_nodes(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in ("tril", "triu", "diag", "diagonal", "diag_embed", "roll", "rot90")
        for each in (*node.args, *(keyword.value for keyword in node.keywords))
        for name in ast.walk(each)
        if isinstance(name, ast.Name)
    }


def divided(function: Any) -> set[str]:
    """Names in divisions with a rest, as ``ctx.width // 2``: forward may need a certain rest."""
    helpers = with_helpers(forward_of(function))
    return {
        part.id if isinstance(part, ast.Name) else part.attr
        for node in chain(_whole(function), *map(nodes, helpers))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod)
        for part in ast.walk(node)
        if isinstance(part, ast.Name | ast.Attribute)
    }


def _whole(function: Any) -> Iterator[ast.AST]:
    """All parts of the whole definition, with methods that are no part of the protocol."""
    with suppress(SyntaxError):
        yield from ast.walk(ast.parse(textwrap.dedent(source(function))))


def subtracted(function: Any) -> set[tuple[str, str]]:
    """Pairs of names of which forward takes differences, as ``a - b`` or ``x[:, None] - x``."""
    return {
        (one, other)
        for node in forward_nodes(function)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        for one in _indexed(node.left)
        for other in _indexed(node.right)
    }


def _indexed(node: ast.expr) -> set[str]:
    """The name of which an expression is a part, or another view."""
    match node:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
            return {name}
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _VIEWS:
            return {name}
    return set()


def lifts_half(function: Any) -> bool:
    """Return True for a forward that names half precision, or converts to single precision.

    One that converts to double precision does it for half precision if a docstring speaks of that.
    """
    converts = {"float", "float16", "bfloat16", "half"}
    if wording(function).speaks_of_half_precision:
        converts.add("double")
    return any(
        isinstance(node, ast.Attribute) and node.attr in converts
        for node in forward_nodes(function)
    )


def aligned(function: Any) -> set[tuple[str, str]]:
    """The tensors that forward converts to the dtype of another, and that other.

    ``x.to(weight.dtype)`` says that both may have a dtype of their own.
    """
    found: set[tuple[str, str]] = set()
    for node in forward_nodes(function):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="to" | "type" | "type_as"),
                args=[ast.Attribute(value=ast.Name(id=other), attr="dtype") | ast.Name(id=other)],
            ):
                found.add((name, other))
    return found


def converted_to_floats(function: Any) -> set[str]:
    """Names of tensors that forward turns into floating numbers: these are no indices."""
    return {
        name
        for node in forward_nodes(function)
        if isinstance(node, ast.Call)
        for name in _converted(node)
    }


def _converted(call: ast.Call) -> Iterator[str]:
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr="float" | "double" | "type_as"):
            yield name
        case ast.Attribute(value=ast.Name(id=name), attr="to" | "type") if any(
            "float" in text or "double" in text or text.endswith("dtype")
            for text in map(ast.unparse, (*call.args, *(each.value for each in call.keywords)))
        ):
            yield name
