"""Edits of a backward by which it takes a value from forward instead of computing its own."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from gradtool.adapters.common.alterations.altered_code import shortened
from gradtool.adapters.common.alterations.edits import standin
from gradtool.adapters.common.alterations.held import spread
from gradtool.adapters.common.alterations.noted_values import Value
from gradtool.adapters.common.alterations.omissions import Edit
from gradtool.verify.thresholds.edits import GRAFTS_LEAST_CHANGE, GRAFTS_MOST, GRAFTS_MOST_USES


class Noted(msgspec.Struct, frozen=True):
    """An expression of forward, and its value."""

    number: int
    """Its place among all that are noted."""
    node: ast.expr
    value: Value
    anew: bool = False
    """The value is not that of the expression itself, but of the variables in it at the end."""

    @property
    def code(self) -> str:
        """Its source."""
        return ast.unparse(self.node)


def distinct(noted: Sequence[Noted]) -> list[Noted]:
    """The expressions of different values, the plainest of each."""
    found: dict[tuple[Any, ...], Noted] = {}
    for each in sorted(noted, key=_plainness):
        found.setdefault(_key(each.value), each)
    return list(found.values())


def grafts(
    values: Mapping[ast.AST, Value], forward: Sequence[Noted], fixed: Collection[ast.AST]
) -> Iterator[Edit]:
    """Yield the grafts, those that change a value least first.

    Args:
        values: The expressions of backward, with their values at the case.
        forward: Those of forward.
        fixed: Those of backward that do not depend on the cotangent.
    """
    found = [
        (change, len(others), number, node, others, each)
        for node, others in _uses([node for node in values if node in fixed])
        for number, each in enumerate(forward)
        if (change := _change(values[node], each.value)) is not None
    ]
    found.sort(key=lambda one: one[:3])
    tensors = [one for one in found if isinstance(one[-1].value, np.ndarray)]
    numbers = [one for one in found if not isinstance(one[-1].value, np.ndarray)]
    for _, _, _, node, others, each in (*tensors[:GRAFTS_MOST], *numbers[:GRAFTS_MOST]):
        yield _graft(node, others, each)


def factor_grafts(
    nodes: Sequence[ast.expr], values: Mapping[ast.AST, Value], forward: Sequence[Noted]
) -> Iterator[Edit]:
    """Yield the expressions times, and over, each value of forward that leaves their shape."""
    found = [
        (node, each, op)
        for node in nodes
        for each in forward
        if isinstance(each.node, ast.Name) and isinstance(values.get(node), np.ndarray)
        for op in (ast.Mult(), ast.Div())
    ]
    for node, each, op in found[:GRAFTS_MOST]:
        made = standin("noted", ast.Constant(each.number))
        sign = "*" if isinstance(op, ast.Mult) else "/"
        shapes = np.shape(each.value), np.shape(values[node])
        for code in spread(each.code, *shapes):
            factor = made if code == each.code else _unsqueezed(made)
            other = f"{_bracketed(node)} {sign} {code}"
            line = getattr(each.node, "lineno", None)
            edited = ast.BinOp(node, op, factor)
            yield Edit(node, edited, node, is_factor=True, other=other, line_of_forward=line)


def _unsqueezed(node: ast.expr) -> ast.expr:
    called = ast.Attribute(node, "unsqueeze", ast.Load())
    return ast.Call(called, [ast.UnaryOp(ast.USub(), ast.Constant(1))], [])


def _bracketed(node: ast.expr) -> str:
    code = ast.unparse(node)
    return f"({code})" if isinstance(node, ast.BinOp) else code


def _uses(nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """Each expression by itself, and all that read alike together."""
    alike: dict[str, list[ast.AST]] = {}
    for node in nodes:
        alike.setdefault(ast.dump(node), []).append(node)
        yield node, ()
    for first, *rest in alike.values():
        if 0 < len(rest) < GRAFTS_MOST_USES:
            yield first, tuple(rest)


def _graft(node: ast.AST, others: tuple[ast.AST, ...], noted: Noted) -> Edit:
    made = standin("noted", ast.Constant(noted.number))
    line = getattr(noted.node, "lineno", None)
    words = ""
    if noted.anew:
        code, own = shortened(noted.code), shortened(ast.unparse(node))
        words = f"`{code}` at the end of the loop of forward (line {line}) in place of `{own}`"
    return Edit(
        node, made, node, others=others, other=noted.code, line_of_forward=line, words=words
    )


def _plainness(noted: Noted) -> tuple[bool, bool, int]:
    return noted.anew, not isinstance(noted.node, ast.Name), len(noted.code)


def _key(value: Value) -> tuple[Any, ...]:
    array = np.asarray(value)
    return array.shape, array.dtype.kind, array.tobytes()


def _change(one: Value, other: Value) -> float | None:
    """Part of two values by which they differ; None if one cannot stand for the other."""
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind or not a.size:
        return None
    if isinstance(one, np.ndarray) is not isinstance(other, np.ndarray):
        return None
    wide = np.result_type(a.dtype, np.float64)
    with np.errstate(all="ignore"):
        size = float(np.abs(a).max() + np.abs(b).max())
        change = float(np.abs(a.astype(wide) - b.astype(wide)).max()) / size if size else 0.0
    return change if change > GRAFTS_LEAST_CHANGE else None
