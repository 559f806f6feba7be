"""Variants with one more axis, where forward treats it as a batch.

Code that counts all its axes from the end is written for any number of leading ones, and code that
takes an axis as an argument for any number of others. Forward shows it by its results: those for a
stack are the stack of those for each part.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradtool.collect.checkable import Checkable
from gradtool.explore.excuses import outputs_at
from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.names import is_axis
from gradtool.explore.reading.source import forward_nodes, nodes, solves
from gradtool.explore.reading.wording import wording
from gradtool.explore.traits import traits
from gradtool.explore.variants.ranks import with_axis

_FOR_MATRICES = {"T", "H"}
_BY_RANK = {"t", "einsum", "permute", "mv", "mm", "bmm", "outer", "dot", "ger", "addmm"}
_CREATING = {"zeros", "ones", "empty", "full", "rand", "randn", "arange", "eye", "linspace"}
_ELEMENTWISE = {
    *("pow", "float_power", "clamp", "clip", "clamp_min", "clamp_max", "add", "sub", "rsub"),
    *("mul", "div", "true_divide", "fmod", "remainder", "masked_fill", "where", "full_like"),
    *("leaky_relu", "threshold", "elu", "softplus", "nan_to_num", "lerp", "maximum", "minimum"),
}
"""Operations whose numbers are no axes."""

_CLOSE = 1e-9

_OF_A_MATRIX = 2
"""Its axes: a case of one matrix shows nothing of a batch of them."""


def leading(
    checkable: Checkable, point: Point, points: Sequence[Point], rng: np.random.Generator
) -> Iterator[Variant]:
    """Yield variants in which the tensors of the largest rank have one more axis, first or last.

    A backward that names all axes is written for that rank, and may refuse another, unless an axis
    is an argument or a docstring speaks of one or several. `points` are those of all cases: a
    tensor of one rank, where others have more axes in one case than in another, keeps it.
    """
    ranks = {at: array.ndim for at, array in point.continuous() if array.ndim}
    largest = max(ranks.values(), default=0)
    varied = {name for name in point.names if len(_ranks(name, points)) > 1}
    chosen = [
        at
        for at, rank in ranks.items()
        if rank == largest and (not varied or point.names[at] in varied)
    ]
    is_bound = any(trait.is_equality for at in chosen for trait in traits(point.values[at]))
    backward = nodes(getattr(checkable.obj, "backward", checkable.obj))
    if not chosen or is_bound or any(map(_widens_all_axes, backward)):
        return
    names_axes = any(map(_fixes_rank, backward))
    said = wording(checkable.obj)
    is_of_one_matrix = largest == _OF_A_MATRIX and solves(checkable.obj)
    may_be_stacked = said.may_be_stacked or (said.speaks_of_batches and is_of_one_matrix)
    may_raise = names_axes and not _given_axes(point) and not may_be_stacked
    for place in dict.fromkeys([*_places(checkable.obj, point), *([0] if may_be_stacked else [])]):
        axis = largest if place < 0 else 0
        made = point.having({at: with_axis(point.values[at], axis, rng) for at in chosen})
        if _is_stacked(checkable, made, chosen, place):
            names = " and ".join(f"`{point.names[at]}`" for at in chosen)
            verb = "has" if len(chosen) == 1 else "have"
            word = "trailing" if place < 0 else "leading"
            change = f"{names} {verb} one more {word} axis"
            yield Variant(made, change, may_raise=may_raise)


def _ranks(name: str, points: Sequence[Point]) -> set[int]:
    """The ranks of an argument in all cases."""
    return {array.ndim for each in points for at, array in each.arrays() if each.names[at] == name}


def _places(function: Any, point: Point) -> Iterator[int]:
    """Yield places of one more axis beside the others: 0 for the first, -1 for the last."""
    given, named = _given_axes(point), _named_axes(function)
    if given and _moves_axes(function, point):
        named = []  # Those that it names are places of the one that is moved.
    if (named or given) and all(axis < 0 for axis in (*named, *given)):
        yield 0
    if given and not named and min(given) >= 0:
        yield -1


def _moves_axes(function: Any, point: Point) -> bool:
    """Return True for a forward that moves an axis which is an argument to another place."""
    return any(
        isinstance(name, ast.Name) and is_axis(name.id) and name.id in point.names
        for node in forward_nodes(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in ("movedim", "moveaxis", "transpose", "swapaxes")
        for name in node.args
    )


def _given_axes(point: Point) -> list[int]:
    """The axes among the arguments."""
    return [
        point.values[at]
        for at in point.plain
        if is_axis(point.names[at]) and type(point.values[at]) is int
    ]


def _is_stacked(checkable: Checkable, stack: Point, chosen: list[int], place: int) -> bool:
    """Return True if forward gives for a stack what it gives for each part of it."""
    parts = [
        stack.having({at: np.take(stack.values[at], number, place) for at in chosen})
        for number in range(stack.values[chosen[0]].shape[place])
    ]
    try:
        whole, *single = [outputs_at(checkable, each) for each in (stack, *parts)]
    except Exception:  # The user's forward may raise anything.
        return False
    return all(
        found is not None
        and all(part is not None for part in of_parts)
        and _is_close(found, np.stack([np.asarray(part) for part in of_parts], place))
        for found, *of_parts in zip(whole, *single, strict=True)
    )


def _is_close(found: Any, expected: Any) -> bool:
    return found.shape == expected.shape and np.allclose(found, expected, _CLOSE, _CLOSE)


def _named_axes(function: Any) -> list[int]:
    """The axes that forward names by a number, from either end."""
    return [axis for node in forward_nodes(function) for axis in _axes(node)]


def _fixes_rank(node: ast.AST) -> bool:
    """Return True for a node that fixes the rank of a tensor without a number of an axis."""
    match node:
        case ast.Attribute(attr=attr):
            return attr in _FOR_MATRICES
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr in _BY_RANK and not _is_of_any_rank(node)
        case ast.Assign(targets=[ast.Tuple()], value=ast.Attribute(attr="shape")):
            return True
    return False


def _widens_all_axes(node: ast.AST) -> bool:
    """Return True for ``x[:, None]``: in a tensor of more axes the new one is out of place."""
    match node:
        case ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(), *rest])):
            return any(isinstance(each, ast.Constant) and each.value is None for each in rest)
    return False


def _is_of_any_rank(node: ast.Call) -> bool:
    """Return True for an ``einsum`` whose equation begins with an ellipsis."""
    match node.args:
        case [ast.Constant(value=str() as equation), *_]:
            return equation.lstrip().startswith("...")
    return False


def _axes(node: ast.AST) -> Iterator[int]:
    """The axes that a node names; 0 for what fixes the rank of a tensor in another way."""
    if _fixes_rank(node):
        yield 0
        return
    match node:
        case ast.Call() if _is_of_any_rank(node):
            yield -1
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in _CREATING | _ELEMENTWISE:
            return
        case ast.Call(args=args, keywords=keywords):
            named = [each.value for each in keywords if each.arg in ("dim", "axis")]
            numbers = [n for n in map(_whole_number, [*args, *named]) if n is not None]
            # Beside an axis from the end, another number is a count, as in ``chunk(2, -1)``.
            yield from [n for n in numbers if n < 0] or numbers
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=index):
            yield from (n for n in [_whole_number(index)] if n is not None)
        case ast.Subscript(slice=ast.Tuple(elts=entries)):
            yield from (-1,) if _is_ellipsis(entries[0]) else (0,)


def _whole_number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis
