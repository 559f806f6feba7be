"""Variants of integer tensors: repeated indices, and segments of one element.

The gradient of what is read twice is a sum. What forward writes to one place twice has no defined
order, so indices by which it writes stay distinct.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtool.explore.point import Point, Variant
from gradtool.explore.source import trees
from gradtool.explore.traits import is_permutation
from gradtool.verify.protocol.observation import Array

_READS = {"gather", "index_select", "take", "take_along_dim", "embedding"}
_WRITES = {"scatter", "index_copy", "index_put", "index_fill", "masked_scatter", "argsort", "sort"}


def repeated(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants in which two entries of an index tensor are the same."""
    names = _read_by(function)
    for at, array in point.arrays():
        name = point.names[at]
        if name in names and array.dtype.kind in "iu" and _may_repeat(array):
            changed = array.copy()
            changed.reshape(-1)[-1] = array.reshape(-1)[0]
            yield Variant(point.having({at: changed}), f"`{name}` has a repeated entry")


def segments(point: Point) -> Iterator[Variant]:
    """Yield variants in which the first segment, of ids or between offsets, has one element."""
    for at, array in point.arrays():
        if array.dtype.kind in "iu" and array.ndim == 1 and array.size > 2:
            changed = _with_short_segment(array)
            if changed is not None and not np.array_equal(changed, array):
                change = f"the first segment of `{point.names[at]}` has one element"
                yield Variant(point.having({at: changed}), change)


def ignored(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants in which some labels are the number that forward compares them with."""
    for label, mark in sorted(_compared(function)):
        at, by = (point.names.index(each) if each in point.names else -1 for each in (label, mark))
        if at not in point.tensors or by not in point.plain or point.values[at].dtype.kind != "i":
            continue
        changed = point.values[at].copy()
        changed.reshape(-1)[::2] = point.values[by]
        change = f"some entries of `{label}` are `{mark}`, {point.values[by]}"
        yield Variant(point.having({at: changed}), change)


def _compared(function: Any) -> set[tuple[str, str]]:
    """Pairs of names that forward compares for equality."""
    return {
        pair
        for tree in trees(getattr(function, "forward", function))
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq)
        for one, other in [(node.left, node.comparators[0])]
        if isinstance(one, ast.Name) and isinstance(other, ast.Name)
        for pair in ((one.id, other.id), (other.id, one.id))
    }


def _with_short_segment(array: Array) -> Array | None:
    steps = np.diff(array)
    changed = array.copy()
    if array[0] == 0 and (steps > 0).all():  # Offsets.
        changed[1] = 1
        return changed
    if (steps >= 0).all() and (steps == 0).any() and (steps > 0).any():  # Ids.
        second = int(np.argmax(steps > 0)) + 1
        changed[1:second] = array[second]
        return changed
    return None


def _may_repeat(array: Array) -> bool:
    flat = array.reshape(-1)
    is_distinct = flat.size > 1 and len(np.unique(flat)) == flat.size
    is_sorted = bool((np.diff(flat) > 0).all())
    return is_distinct and not is_sorted and not is_permutation(array)


def _read_by(function: Any) -> set[str]:
    """The arguments by which forward reads entries of a tensor; none where it also writes some."""
    read: set[str] = set()
    for tree in trees(getattr(function, "forward", function)):
        for node in ast.walk(tree):
            match node:
                case ast.Subscript(ctx=ast.Store()) | ast.Subscript(ctx=ast.Del()):
                    return set()
                case ast.Subscript(slice=index):
                    read |= _names(index)
                case ast.Call(func=ast.Attribute(attr=name), args=args):
                    if name.rstrip("_") in _WRITES:
                        return set()
                    if name in _READS:
                        read |= {each for arg in args for each in _names(arg)}
    return read


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
