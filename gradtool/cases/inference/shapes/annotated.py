"""Shapes in annotations, such as ``x: Float[Tensor, "b n"]`` and ``x: TensorType["b", "n"]``."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

_AXES = re.compile(r"(?:[A-Za-z]\w*|[1-9]\d*)(?: (?:[A-Za-z]\w*|[1-9]\d*))*")
"""Matches axes that all have a name or a number: ``*batch``, ``...`` and ``#n`` stand for any."""


def in_annotations(function: Any) -> str:
    """The shapes that a function's annotations state, a line each, in the words of a docstring."""
    code = getattr(inspect.unwrap(function), "__code__", None) if function is not None else None
    return "\n".join(_lines(code)) if code is not None else ""


@lru_cache(maxsize=64)
def _lines(code: Any) -> tuple[str, ...]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return ()
    return tuple(_stated(tree.body[0])) if tree.body else ()


def _stated(node: ast.stmt) -> Iterator[str]:
    if not isinstance(node, ast.FunctionDef):
        return
    for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        axes = _axes(each.annotation)
        if axes:
            yield f"{each.arg}: tensor ({', '.join(axes)}{',' if len(axes) == 1 else ''})"


def _axes(note: ast.expr | None) -> list[str]:
    """The axes that an annotation names; empty if it names none, or not all of them."""
    if isinstance(note, ast.BinOp):  # A choice: ``Float[Tensor, "n"] | None``.
        sides = [_axes(each) for each in (note.left, note.right)]
        return sides[0] if not sides[1] else sides[1] if not sides[0] else []
    if not isinstance(note, ast.Subscript):
        return []
    inside = note.slice.elts if isinstance(note.slice, ast.Tuple) else [note.slice]
    texts = [each.value for each in inside if isinstance(each, ast.Constant)]
    is_typed = len(inside) == 2 and len(texts) == 1 and isinstance(inside[0], _CLASS)
    if not (is_typed or (len(texts) == len(inside) and _NAMES_TENSOR.search(ast.unparse(note)))):
        return []
    text = " ".join(str(each).strip() for each in texts)
    return text.split() if _AXES.fullmatch(text) else []


_CLASS = ast.Name | ast.Attribute

_NAMES_TENSOR = re.compile(r"^[\w.]*Tensor(?:Type)?\[")
"""Matches the annotation of a tensor by the names of its axes alone."""
