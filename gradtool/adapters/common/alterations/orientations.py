"""Parts and orientations of a matrix, one of which may stand for another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradtool.adapters.common.alterations.edits import parsed

_OF_A_MATRIX = (
    "({x}).tril()",
    "({x}).triu()",
    "({x}).tril(-1)",
    "({x}).triu(1)",
    "({x} + {x}.mT) / 2",
    "{x} + {x}.mT",
    "{x} - 0.5 * {x}.diagonal(0, -2, -1).diag_embed()",
    "{x} - {x}.diagonal(0, -2, -1).diag_embed()",
)
_OF_A_VECTOR = ("{x}.flip(-1)", "{x}.flip(0)")
_OF_AN_INDEX = ("{x}.argsort()",)


def orientations(node: ast.expr, dims: int) -> Iterator[ast.expr]:
    """Yield what may stand for a tensor with a number of dims."""
    if dims > 0:
        yield from _formed((*(_OF_A_MATRIX if dims > 1 else ()), *_OF_A_VECTOR), node)


def without_gaps(node: ast.expr) -> Iterator[ast.expr]:
    """Fill the zeros of a matrix of divided differences, and not its diagonal alone.

    They are where two values are the same, on the diagonal or off it.
    """
    match node:
        case ast.BinOp(
            left=left,
            op=ast.Add(),
            right=ast.Call(func=ast.Attribute(attr="diag" | "diag_embed") as function, args=[d]),
        ):
            module, matrix = ast.unparse(function.value), ast.unparse(left)
            limit = f"({ast.unparse(d)}).unsqueeze(-1)"
            code = f"{module}.where(({matrix}) == 0, {limit}, {matrix})"
            yield parsed(code)


def of_an_index(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what may stand for a tensor of indices."""
    yield from _formed(_OF_AN_INDEX, node)


def _formed(forms: Sequence[str], node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.UnaryOp | ast.Constant):
        return
    code = ast.unparse(node)
    code = f"({code})" if isinstance(node, ast.BinOp | ast.IfExp) else code
    for form in forms:
        yield parsed(form.format(x=code))
