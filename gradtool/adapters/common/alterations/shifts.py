"""Edits of a backward that reads entries one place too far, or across the end of an axis."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradtool.adapters.common.alterations.edits import parsed
from gradtool.adapters.common.alterations.omissions import Edit


def unwrapped(expressions: Sequence[tuple[ast.expr, ast.AST]]) -> Iterator[Edit]:
    """Put zeros in place of the entries that ``roll`` moves across the end of an axis."""
    for node, _ in expressions:
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
                    yield Edit(node, made, node, words=words)


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


def shifted(node: ast.expr) -> Iterator[ast.expr]:
    """The entry beside the one that a loop reads, also at the end of the axis."""
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
