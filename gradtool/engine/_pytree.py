"""Nested tuples, lists, dicts and namedtuples of values, taken apart and put together again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Rebuild = Callable[[Iterator[Any]], Any]


def flatten(tree: Any) -> tuple[list[Any], Rebuild]:
    """The leaves in order, and a function that puts others in their places.

    ``rebuild(iter(leaves))`` gives the tree again.
    """
    leaves: list[Any] = []
    return leaves, _flatten_into(tree, leaves)


def _flatten_into(tree: Any, leaves: list[Any]) -> Rebuild:
    if isinstance(tree, tuple | list):
        parts = [_flatten_into(each, leaves) for each in tree]
        kind = type(tree)
        if hasattr(tree, "_fields"):
            return lambda values: kind(*[part(values) for part in parts])
        return lambda values: kind([part(values) for part in parts])
    if isinstance(tree, dict):
        keys = list(tree) if isinstance(tree, OrderedDict) else sorted(tree, key=str)
        entries = {key: _flatten_into(tree[key], leaves) for key in keys}
        made = type(tree) if isinstance(tree, OrderedDict) else dict
        order = list(tree)
        return lambda values: _dict_of(made, order, entries, values)
    if tree is None:
        return lambda _values: None
    leaves.append(tree)
    return next


def _dict_of(
    made: type[dict[Any, Any]], order: list[Any], entries: dict[Any, Rebuild], values: Iterator[Any]
) -> dict[Any, Any]:
    """A dict whose leaves come by sorted keys, with its keys in their own order."""
    parts = {key: part(values) for key, part in entries.items()}
    return made((key, parts[key]) for key in order)


def tree_map(function: Callable[..., Any], tree: Any) -> Any:
    """The tree with the function applied to each leaf."""
    leaves, rebuild = flatten(tree)
    return rebuild(iter([function(leaf) for leaf in leaves]))


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves in order."""
    return flatten(tree)[0]


def unflatten(rebuild: Rebuild, leaves: Iterable[Any]) -> Any:
    """A tree of the shape that `rebuild` remembers."""
    return rebuild(iter(leaves))


def broadcast_prefix(prefix: Any, tree: Any, is_leaf: Callable[[Any], bool]) -> list[Any] | None:
    """For each leaf of `tree` the value that `prefix` gives it; None if they do not fit.

    A leaf of the prefix stands for all leaves below its place in the tree.
    """
    if is_leaf(prefix):
        return [prefix] * len(tree_leaves(tree))
    if isinstance(prefix, dict):
        if not isinstance(tree, dict) or set(prefix) != set(tree):
            return None
        order = list(tree) if isinstance(tree, OrderedDict) else sorted(tree, key=str)
        pairs = [(prefix[key], tree[key]) for key in order]
    elif isinstance(prefix, tuple | list):
        if not isinstance(tree, tuple | list) or len(prefix) != len(tree):
            return None
        pairs = list(zip(prefix, tree))
    else:
        return None
    result: list[Any] = []
    for part, subtree in pairs:
        values = broadcast_prefix(part, subtree, is_leaf)
        if values is None:
            return None
        result.extend(values)
    return result
