"""Repairs by which a part or an orientation of a matrix, or of an index, stands for another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair, made_by
from gradtool.adapters.common.alterations.shown_code import shortened
from gradtool.adapters.common.alterations.trees import parsed

_TRANSPOSES = {"T": "H", "mT": "mH", "H": "T", "mH": "mT"}
"""Each transpose with the one that conjugates, or does not."""

_SOLVERS = frozenset({"inv", "inverse", "pinv", "solve"})

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


def transposes(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression without a transpose or conjugate that it has, or with one more."""
    match node:
        case ast.Attribute(value=value, attr=attr) if attr in _TRANSPOSES:
            yield value
            yield ast.Attribute(value, _TRANSPOSES[attr], ast.Load())
        case ast.Call(func=ast.Attribute(value=value, attr="t" | "transpose" | "conj")):
            yield value
        case ast.Name() | ast.Call() | ast.Subscript() | ast.Attribute():
            yield ast.Attribute(node, "mT", ast.Load())
            yield ast.Call(ast.Attribute(node, "conj", ast.Load()), [], [])


def transposed_systems(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the solution of a linear system whose matrix, a sum, is transposed."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) as func, args=[ast.BinOp() as matrix, *rest]):
            if name in _SOLVERS:
                turned = ast.Attribute(matrix, "mT", ast.Load())
                yield ast.Call(func, [turned, *rest], node.keywords)


def orientations(backward: Backward) -> Iterator[Repair]:
    """Put parts and orientations of a tensor in its place."""

    def turned(node: ast.expr) -> Iterator[ast.expr]:
        value = backward.array(node)
        if value is not None and value.dtype.kind in "fc" and value.ndim > 0:
            yield from _formed((*(_OF_A_MATRIX if value.ndim > 1 else ()), *_OF_A_VECTOR), node)

    return made_by(turned, backward.places)


def index_orientations(backward: Backward) -> Iterator[Repair]:
    """Put the inverse of a permutation in its place."""

    def inverse(node: ast.expr) -> Iterator[ast.expr]:
        value = backward.array(node)
        if value is not None and value.dtype.kind == "i":
            yield from _formed(_OF_AN_INDEX, node)

    return made_by(inverse, backward.places)


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


def doubled_pairs(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the sums of all pairs of a vector's entries in the place of its doubled entries."""
    match node:
        case ast.BinOp(left=ast.Constant(value=2 | 2.0), op=ast.Mult(), right=ast.Subscript() as x):
            yield from _formed(("{x} + {x}.mT",), x)


def halved_diagonals(backward: Backward) -> Iterator[Repair]:
    """Halve only the diagonal of a matrix, and not all of it."""
    for node in backward.nodes:
        match node:
            case (
                ast.BinOp(left=ast.Constant(value=0.5), op=ast.Mult(), right=whole)
                | ast.BinOp(left=whole, op=ast.Mult(), right=ast.Constant(value=0.5))
                | ast.BinOp(left=whole, op=ast.Div(), right=ast.Constant(value=2 | 2.0))
            ) if (value := backward.array(node)) is not None and value.ndim > 1:
                for made in _formed(("{x} - 0.5 * {x}.diagonal(0, -2, -1).diag_embed()",), whole):
                    words = f"only the diagonal of `{shortened(ast.unparse(whole))}` halved"
                    yield Repair(node, made, node, words=words)


def _formed(forms: Sequence[str], node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.UnaryOp | ast.Constant):
        return
    code = ast.unparse(node)
    code = f"({code})" if isinstance(node, ast.BinOp | ast.IfExp) else code
    for form in forms:
        yield parsed(form.format(x=code))
