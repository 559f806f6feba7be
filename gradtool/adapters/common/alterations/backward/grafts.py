"""Repairs by which backward takes a value from forward instead of computing its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.noted_forward import Noted
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.held import spread
from gradtool.adapters.common.alterations.noted_values import Value
from gradtool.adapters.common.alterations.shown_code import shortened
from gradtool.adapters.common.alterations.trees import method_call, numeral
from gradtool.verify.thresholds.edits import (
    GRAFTS_LEAST_CHANGE,
    GRAFTS_MOST,
    GRAFTS_MOST_USES,
)


def grafts(backward: Backward) -> Iterator[Repair]:
    """Put a value of forward in the place of one of backward, the least changes first."""
    values = backward.values
    found = [
        (change, len(others), number, node, others, each)
        for node, others in _uses([node for node in values if node in backward.fixed])
        for number, each in enumerate(backward.forward)
        if not _is_written(each)
        if (change := _change(values[node], each.value)) is not None
    ]
    found.sort(key=lambda one: one[:3])
    tensors = [one for one in found if isinstance(one[-1].value, np.ndarray)]
    numbers = [one for one in found if not isinstance(one[-1].value, np.ndarray)]
    for _, _, _, node, others, each in (*tensors[:GRAFTS_MOST], *numbers[:GRAFTS_MOST]):
        yield _graft(node, others, each)


def _is_written(noted: Noted) -> bool:
    """Return True for a whole number as such: any forward has a 1 or a 2 somewhere."""
    return isinstance(noted.node, ast.Constant) and isinstance(noted.value, int)


def factor_grafts(backward: Backward) -> Iterator[Repair]:
    """Multiply and divide an expression by each variable of forward that leaves its shape."""
    found = [
        (node, each, op)
        for node in backward.nodes
        if isinstance(node, ast.Name | ast.BinOp | ast.Call) and backward.array(node) is not None
        for each in backward.forward
        if isinstance(each.node, ast.Name)
        for op in (ast.Mult(), ast.Div())
    ]
    for node, each, op in found[:GRAFTS_MOST]:
        yield from _factors(node, each, op, np.shape(backward.values[node]))


def _factors(
    node: ast.expr, noted: Noted, op: ast.operator, shape: tuple[int, ...]
) -> Iterator[Repair]:
    made = standin("noted", ast.Constant(noted.number))
    sign = "*" if isinstance(op, ast.Mult) else "/"
    line = getattr(noted.node, "lineno", None)
    for code in spread(noted.code, np.shape(noted.value), shape):
        factor = made if code == noted.code else method_call(made, "unsqueeze", numeral(-1))
        other = f"{_bracketed(node)} {sign} {code}"
        multiplied = ast.BinOp(node, op, factor)
        yield Repair(node, multiplied, node, is_factor=True, other=other, line_of_forward=line)


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


def _graft(node: ast.AST, others: tuple[ast.AST, ...], noted: Noted) -> Repair:
    made = standin("noted", ast.Constant(noted.number))
    line = getattr(noted.node, "lineno", None)
    words = ""
    if noted.anew:
        code, own = shortened(noted.code), shortened(ast.unparse(node))
        words = f"`{code}` at the end of the loop of forward (line {line}) in place of `{own}`"
    return Repair(
        node, made, node, others=others, other=noted.code, line_of_forward=line, words=words
    )


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
