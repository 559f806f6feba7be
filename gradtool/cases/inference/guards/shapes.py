"""Shapes with which arguments meet a condition that they did not meet.

The other side of a comparison is evaluated where it was refused: ``h.shape != (n // 2 + 1,)``
gives the shape of ``h`` whatever computes ``n``.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from gradtool.cases.inference.guards.conditions import Condition
from gradtool.cases.inference.guards.known import Known
from gradtool.cases.inference.shapes.reading import (
    constant_slice,
    extent_of,
    rank_of,
    whole_shape_of,
)

ShapeChange = Callable[[list[int]], list[int]]

_EXTENTS = (3, 4, 5, 2, 6)
"""Extents of dimensions that are added, of which each tensor gets others than it has."""

_LARGEST = 64
"""Extent beyond which none is tried."""

_MOST_DIMENSIONS = 6

_LEAST = 2
"""Least extent that is made to fit: one entry alone shows little."""

_USUAL_EXTENT, _USUAL_RANK = 3, 2
"""What is tried where any number above a bound is accepted."""


def shape_changes(condition: Condition, known: Known) -> Iterator[tuple[str, ShapeChange]]:
    """Yield changes of the shapes of arguments, by the names of these, that meet a condition."""
    for each in (condition, condition.mirrored()):
        if each is not None and each.right is not None and each.operator is not None:
            made = (read(each, known) for read in _READERS)
            yield from itertools.islice(filter(None, made), 1)


def _of_rank(condition: Condition, known: Known) -> tuple[str, ShapeChange] | None:
    """Read ``x.dim() == 2``."""
    name = _argument(rank_of(condition.left), known)
    rank = _wanted(condition, known, _USUAL_RANK)
    return None if name is None or rank is None else (name, lambda shape: _ranked(shape, rank))


def _of_whole(condition: Condition, known: Known) -> tuple[str, ShapeChange] | None:
    """Read ``x.shape == (n, n)``."""
    name = _argument(whole_shape_of(condition.left), known)
    extents = _extents(condition, known)
    return None if name is None or extents is None else (name, lambda _: list(extents))


def _of_extent(condition: Condition, known: Known) -> tuple[str, ShapeChange] | None:
    """Read ``x.shape[-1] == 4``."""
    place, extent = _place(condition.left), _wanted(condition, known, _USUAL_EXTENT)
    name = _argument(place[0], known) if place else None
    if name is None or place is None or not extent:
        return None
    return name, lambda shape: _with_extent(shape, place[1], extent, condition.left)


def _of_part(condition: Condition, known: Known) -> tuple[str, ShapeChange] | None:
    """Read ``x.shape[:-1] == y.shape``."""
    part, extents = _part_of_shape(condition.left), _extents(condition, known)
    name = _argument(part[0], known) if part else None
    if name is None or part is None or extents is None:
        return None
    if not _may_have_length(part[1], len(extents)):
        return None
    return name, lambda shape: _with_part(shape, part[1], extents)


def _place(node: ast.expr) -> tuple[str, int] | None:
    """The name and the axis of an extent: also of ``len(x)``."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return name, 0
    return extent_of(node)


def _argument(name: str | None, known: Known) -> str | None:
    return None if name is None else known.argument(name)


def _wanted(condition: Condition, known: Known, usual: int) -> int | None:
    """The number that meets a comparison with another one: a usual one, if it does."""
    assert condition.right is not None
    value = known.value(condition.right)
    if condition.operator is ast.In and isinstance(value, tuple | list | set | range):
        value = next(iter(value), None)
    if type(value) is not int or not 0 <= value <= _LARGEST:
        return None
    match condition.operator:
        case ast.Gt:
            return max(value + 1, usual)
        case ast.GtE:
            return max(value, usual)
        case ast.NotEq:
            return usual if usual != value else usual + 1
        case ast.Lt:
            return value - 1
    return value


def _extents(condition: Condition, known: Known) -> list[int] | None:
    """The shape on the right side, where the left one has to equal it."""
    assert condition.right is not None
    value = known.value(condition.right)
    if condition.operator is ast.In and isinstance(value, tuple | list) and value:
        value = value[0]
    if condition.operator not in {ast.Eq, ast.In} or not isinstance(value, tuple | list):
        return None
    fits = all(type(each) is int and 0 <= each <= _LARGEST for each in value)
    return list(value) if fits and len(value) <= _MOST_DIMENSIONS else None


def _ranked(shape: list[int], rank: int) -> list[int]:
    """The shape with another number of dimensions: the last ones, or further ones before them."""
    if rank <= len(shape):
        return shape[len(shape) - rank :]
    new = [extent for extent in _EXTENTS if extent not in shape]
    return [*new[: rank - len(shape)], *shape]


def _with_extent(shape: list[int], axis: int, extent: int, node: ast.expr) -> list[int]:
    """The shape with another extent, and with another dimension if it is of one that is missing."""
    if _counts_entries(node):
        return [] if extent == 1 else [extent]
    least = axis + 1 if axis >= 0 else -axis
    longer = _ranked(shape, max(least, len(shape)))
    longer[axis] = extent
    return longer


def _counts_entries(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".numel")


def _part_of_shape(node: ast.expr) -> tuple[str, slice] | None:
    """The name and the part of ``x.shape[:-1]``."""
    match node:
        case ast.Subscript(value=value, slice=ast.Slice(lower=low, upper=high, step=None)):
            name = whole_shape_of(value)
            part = constant_slice(low, high)
            return None if name is None or part is None else (name, part)
    return None


def _may_have_length(part: slice, length: int) -> bool:
    """Return True if a part of a shape can have a number of extents: one of ``shape[-1:]``."""
    start, end = part.start or 0, part.stop
    if start < 0 and end is None:
        return length == -start
    return end is None or start < 0 or end < 0 or length == end - start


def _with_part(shape: list[int], part: slice, extents: Sequence[int]) -> list[int]:
    """The shape with other extents in place of some: those before or behind them stay."""
    start, end, _ = part.indices(len(shape))
    return [*shape[:start], *extents, *shape[max(start, end) :]]


def _of_rest(condition: Condition, known: Known) -> tuple[str, ShapeChange] | None:
    """Read ``x.shape[-1] % k == 0``, and ``n & (n - 1) == 0`` of a power of two."""
    match condition.left:
        case ast.BinOp(left=counted, op=ast.Mod() | ast.BitAnd()) if place := _place(counted):
            name, axis = _argument(place[0], known), place[1]
            accepted = _accepted_extents(condition, known)
            if name is None or not accepted:
                return None

            def fitted(shape: list[int]) -> list[int]:
                own = shape[axis] if -len(shape) <= axis < len(shape) else 0
                nearest = min(accepted, key=lambda extent: (extent < own, abs(extent - own)))
                return _with_extent(shape, axis, nearest, counted)

            return name, fitted
    return None


def _accepted_extents(condition: Condition, known: Known) -> list[int]:
    """The extents for which a condition on one holds."""
    assert isinstance(condition.left, ast.BinOp)
    operation, wanted = condition.left.op, known.value(condition.right or ast.Constant(0))
    divisor = known.value(condition.left.right)
    if type(wanted) is not int:
        return []
    if isinstance(operation, ast.BitAnd):
        return [1 << power for power in range(1, int(math.log2(_LARGEST)) + 1)]
    if type(divisor) is not int or divisor < 1:
        return []
    is_equal = condition.operator is ast.Eq
    extents = range(_LEAST, _LARGEST + 1)
    return [each for each in extents if (each % divisor == wanted) is is_equal]


_READERS = (_of_rank, _of_whole, _of_extent, _of_part, _of_rest)
"""What reads a change from a condition, of which the first that applies is used."""
