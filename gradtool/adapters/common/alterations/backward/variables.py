"""Repairs of variables: another one, or a function of the same one, is meant."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.held import Held
from gradtool.adapters.common.alterations.trees import parsed

_OF_A_VARIABLE = (
    "1 - {0}",
    "{0} + 1",
    "{0} - 1",
    "{0}.abs()",
    "{0}.sqrt()",
    "{0}**2",
    "1 / {0}",
    "{0}.exp()",
    "{0}.log()",
    "{0} * (1 - {0})",
    "{0} / (1 - {0})",
    "(1 - {0}**2)",
)


def other_variables(node: ast.expr, held: Held) -> Iterator[ast.expr]:
    """Yield other variables in the place of one, or of one of its parts."""
    name = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    if name in held.names:
        yield from (parsed(each) for each in held.like(node) if each != name)
    match node:
        case ast.Subscript(value=ast.Name(id=whole), slice=ast.Constant() | ast.UnaryOp()):
            yield from (parsed(each) for each in held.like(node) if each != whole)


def functions(node: ast.expr) -> Iterator[ast.expr]:
    """Yield functions of a variable in its place, and ``p`` in that of ``1 - p``."""
    match node:
        case ast.Name() | ast.Call(func=ast.Attribute()):
            yield from (parsed(text.format(ast.unparse(node))) for text in _OF_A_VARIABLE)
        case ast.BinOp(left=ast.Constant(value=1), op=ast.Sub(), right=right):
            yield right


def differences(node: ast.expr, held: Held) -> Iterator[ast.expr]:
    """Yield a variable less another one, or a part of it less the same part of another one."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name in held.names:
            others = (each for each in held.like(node) if each != name)
            yield from (parsed(f"{name} - {each}") for each in others)
        case ast.Subscript(value=ast.Name(id=whole), slice=ast.Name() as part, ctx=ast.Load()):
            code, at = ast.unparse(node), ast.unparse(part)
            others = (each for each in held.tensors if each != whole)
            yield from (parsed(f"{code} - {each}[{at}]") for each in others)


def in_all_uses(backward: Backward) -> Iterator[Repair]:
    """Put another variable, or a function of the same one, in all uses of a variable."""
    for first, *rest in _uses(backward):
        negative = ast.UnaryOp(ast.USub(), first)
        symmetric = parsed(f"({first.id} + {first.id}.mT) / 2")
        others = other_variables(first, backward.held)
        for made in (*functions(first), *others, negative, symmetric):
            yield Repair(first, made, first, others=tuple(rest))


def in_two_uses(backward: Backward) -> Iterator[Repair]:
    """Put another variable in two of the uses of one."""
    held = backward.held
    for nodes in _uses(backward):
        for one, other in itertools.combinations(nodes, 2) if len(nodes) > 2 else ():
            for made in (*other_variables(one, held), *_extents(one, held.names)):
                yield Repair(one, made, one, others=(other,))


def _uses(backward: Backward) -> list[list[ast.Name]]:
    """The uses of each variable that has several."""
    found: dict[str, list[ast.Name]] = {}
    names = backward.held.names
    for node in ast.walk(backward.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            found.setdefault(node.id, []).append(node)
    return [nodes for nodes in found.values() if len(nodes) > 1]


def _extents(node: ast.Name, names: Sequence[str]) -> Iterator[ast.expr]:
    """The last extent of some tensor in the place of a variable, which is a number then."""
    yield from (parsed(f"{each}.shape[-1]") for each in names if each != node.id)
