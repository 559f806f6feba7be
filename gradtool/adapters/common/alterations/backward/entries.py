"""Repairs of the entries that are read: too few, or some that lie beside those that are meant."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.trees import parsed, replaced


def offsets_left_out(node: ast.expr) -> Iterator[ast.expr]:
    """Yield a slice without what is added to a bound."""
    match node:
        case ast.Slice(lower=lower, upper=ast.BinOp() as upper, step=step):
            yield from (ast.Slice(lower, made, step) for made in _without_offset(upper))
        case ast.Slice(lower=ast.BinOp() as lower, upper=upper, step=step):
            yield from (ast.Slice(made, upper, step) for made in _without_offset(lower))


def _without_offset(node: ast.BinOp) -> Iterator[ast.expr]:
    if isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant):
        yield node.left


def bounds_left_out(backward: Backward) -> Iterator[Repair]:
    """Leave out a bound of a slice, or the upper bounds of all slices of an expression."""
    found = [(n, around) for n, around in backward.places if isinstance(n, ast.Slice)]
    for node, around in found:
        if node.upper:
            yield Repair(node, _open(node), around)
        if node.lower:
            yield Repair(node, ast.Slice(None, node.upper, node.step), around)
    bounded = [node for node, _ in found if node.upper]
    for whole in backward.nodes:
        if isinstance(whole, ast.Call):
            inside = [node for node in bounded if node in ast.walk(whole)]
            if len(inside) > 1:
                yield Repair(whole, replaced(whole, {n: _open(n) for n in inside}), whole)


def _open(node: ast.Slice) -> ast.Slice:
    return ast.Slice(node.lower, None, node.step)


def without_wrapping(backward: Backward) -> Iterator[Repair]:
    """Put zeros in place of the entries that ``roll`` moves across the end of an axis."""
    for node in backward.nodes:
        match node:
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="roll"), args=[x, *by])
                | ast.Call(func=ast.Attribute(value=x, attr="roll"), args=by)
            ):
                shift, axis = _shift_and_axis(node, by)
                if shift:
                    code, text = ast.unparse(x), ast.unparse(node)
                    words = f"zeros in place of what `{text}` moves across the end"
                    made = _with_zeros(f"({code}).roll({shift}, {axis})", shift, axis)
                    yield Repair(node, made, node, words=words)


def _with_zeros(rolled: str, shift: int, axis: int) -> ast.expr:
    start, count = (0 if shift > 0 else shift), abs(shift)
    end = f"moved.narrow({axis}, {start}, {count}).zero_()"
    return parsed(f"(lambda moved: ({end}, moved)[1])({rolled})")


def _shift_and_axis(node: ast.Call, by: Sequence[ast.expr]) -> tuple[int, int]:
    """The shift of a ``roll`` along one axis, and the axis; no shift if they are not known."""
    named = {each.arg: each.value for each in node.keywords}
    given = [*by, *(named[name] for name in ("shifts", "dims") if name in named)]
    try:
        shift, axis = (*(ast.literal_eval(each) for each in given), 0)[:2]
    except (ValueError, TypeError, SyntaxError):
        return 0, 0
    return (shift, axis) if isinstance(shift, int) and isinstance(axis, int) else (0, 0)


def other_entries(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the entry beside the one that a loop reads, also at the end of the axis."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Name() as index):
            yield from _beside(name, 0, index)
        case ast.Subscript(
            value=ast.Name(id=name),
            slice=ast.Tuple(elts=[ast.Constant(value=value), ast.Name()]) as index,
        ) if value is Ellipsis:
            yield from _beside(name, -1, index)
        case ast.Subscript(
            value=ast.Name(id=name), slice=ast.Tuple(elts=[ast.Slice(), ast.Name()]) as index
        ):
            yield from _beside(name, 1, index)


def _beside(name: str, axis: int, index: ast.expr) -> Iterator[ast.expr]:
    for shift in (-1, 1):
        yield ast.Subscript(parsed(f"{name}.roll({shift}, {axis})"), index, ast.Load())
