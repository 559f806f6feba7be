"""Shapes in annotations, such as ``x: Float[Tensor, "b n"]`` and ``x: TensorType["b", "n"]``.

And in the comments beside them: ``x: Tensor,  # [B, N]``.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

_AXES = re.compile(r"(?:[A-Za-z]\w*|[1-9]\d*)(?: (?:[A-Za-z]\w*|[1-9]\d*))*")
"""Matches axes that all have a name or a number: ``*batch``, ``...`` and ``#n`` stand for any."""


def in_annotations(function: Any) -> str:
    """The shapes that a function's annotations and the comments beside them state.

    A line each, in the words of a docstring.
    """
    code = getattr(inspect.unwrap(function), "__code__", None) if function is not None else None
    return "\n".join(_lines(code)) if code is not None else ""


@lru_cache(maxsize=64)
def _lines(code: Any) -> tuple[str, ...]:
    try:
        text = textwrap.dedent(inspect.getsource(code))
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError, ValueError):
        return ()
    return tuple(_stated(tree.body[0], text.splitlines())) if tree.body else ()


def _stated(node: ast.stmt, lines: list[str]) -> Iterator[str]:
    if not isinstance(node, ast.FunctionDef):
        return
    own = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    counts = Counter(each.lineno for each in own)
    for each in own:
        is_alone = counts[each.lineno] == 1
        axes = _axes(each.annotation) or (_commented(lines[each.lineno - 1]) if is_alone else [])
        if axes:
            yield f"{each.arg}: tensor ({', '.join(axes)}{',' if len(axes) == 1 else ''})"


def _commented(line: str) -> list[str]:
    """The axes with which the comment of a line begins; empty if it begins with anything else."""
    found = _COMMENT.search(line)
    return re.split(r"\s*,\s*", found[1] or found[2]) if found else []


_NAMED = r"(?:[A-Za-z_]\w*|[1-9]\d*)"
_COMMENT = re.compile(
    rf"#\s*(?:\[([A-Z](?:\w*|(?:, ?{_NAMED})+))\]|\(([A-Z]\w*(?:, ?{_NAMED})+),?\))(?!\w)"
)
"""Matches ``# [B, N]`` and ``# (B, N)``: the first axis is a letter or a name in capitals."""


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
