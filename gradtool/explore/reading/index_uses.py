"""Uses of integer tensors: those by which forward reads entries, writes them, or picks some."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.explore.point import Point
from gradtool.explore.reading.names import is_length, is_mark
from gradtool.explore.reading.source import forward_nodes, nodes, trees
from gradtool.explore.reading.views import wholes
from gradtool.explore.traits import is_offsets, is_permutation_along_some_axis

_READS = {"gather", "index_select", "take", "take_along_dim", "embedding"}
_WRITES = {"scatter", "index_copy", "index_put", "index_fill", "masked_scatter"}
_FILLS = {"full", "full_like", "new_full", "fill", "masked_fill"}
_PICKS = {"one_hot", "cross_entropy", "nll_loss"}


class IndexUses(msgspec.Struct, frozen=True):
    """Names of arguments by what forward does with them as an index."""

    read: frozenset[str]
    """It reads entries of a tensor by them."""
    direct: frozenset[str]
    """Those that are an index by themselves."""
    written: frozenset[str]
    """It writes entries by them."""
    picked: frozenset[str]
    """They pick one entry of each row."""


@lru_cache(maxsize=64)
def index_uses(function: Any) -> IndexUses:
    """Read what forward does with its arguments as indices."""
    read, direct, written, picked = set[str](), set[str](), set[str](), set[str]()
    for node in forward_nodes(function):
        match node:
            case ast.Subscript(slice=index, ctx=ast.Store() | ast.Del()):
                written |= names_in(index)
            case ast.Subscript(slice=index):
                read |= names_in(index)
                direct |= {index.id} if isinstance(index, ast.Name) else set()
                picked |= _beside_other_indices(index)
            case ast.Call(func=ast.Attribute(attr=name), args=args):
                names = {each for arg in args for each in names_in(arg)}
                if name.rstrip("_") in _WRITES:
                    written |= names
                if name in _READS:
                    read |= names
                    direct |= {args[-1].id} if args and isinstance(args[-1], ast.Name) else set()
                if name in _PICKS:
                    picked |= names
    whole = wholes(function)
    return IndexUses(
        *(frozenset(_with_wholes(each, whole)) for each in (read, direct, written, picked))
    )


def _with_wholes(names: Collection[str], whole: Mapping[str, str]) -> Iterator[str]:
    """Names of parts of arguments, and those of what they are a part of."""
    for name in names:
        yield name
        if name in whole:
            yield whole[name]


def sorts(function: Any) -> bool:
    """Return True if forward sorts something."""
    return any("sort" in ast.dump(tree) for tree in trees(forward_of(function)))


def marks_by_minus_one(function: Any) -> bool:
    """Return True for a source that fills a tensor with -1, or compares something with it."""
    return any(map(_has_mark, nodes(function)))


def _has_mark(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name), args=args) if name.strip("_") in _FILLS:
            return any(map(_is_minus_one, args))
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()], comparators=[other]):
            return _is_minus_one(other)
    return False


def _is_minus_one(node: ast.AST) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return True
    return False


def sorted_arguments(function: Any) -> set[str]:
    """The names of what forward sorts, so that callers may pass it in any order."""
    found: set[str] = set()
    for node in forward_nodes(function):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="sort" | "argsort"), args=args):
                is_module = isinstance(owner, ast.Name) and owner.id == "torch"
                subject = args[0] if is_module and args else owner
                found |= {subject.id} if isinstance(subject, ast.Name) else set()
    return found


def may_repeat_when_longer(function: Any, point: Point) -> set[int]:
    """The positions of the integer tensors that are labels or lengths, not distinct places."""
    uses = index_uses(function)
    return {
        at
        for at, array in point.arrays()
        for name in [point.names[at]]
        if array.dtype.kind in "iu" and array.ndim and not is_offsets(array)
        if name in uses.picked
        or is_length(name)
        or is_mark(name)
        or not is_permutation_along_some_axis(array)
        if name not in uses.written and (array.size < 2 or np.any(np.diff(array.reshape(-1)) < 0))
    }


def names_in(tree: ast.AST) -> set[str]:
    """All names in a tree."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _beside_other_indices(index: ast.expr) -> set[str]:
    """The names in an index such as ``[torch.arange(n), target]``."""
    parts = index.elts if isinstance(index, ast.Tuple) else []
    indices = [each for each in parts if not isinstance(each, ast.Slice | ast.Constant)]
    return {name for each in indices for name in names_in(each)} if len(indices) > 1 else set()
