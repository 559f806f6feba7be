"""Nested tuples, lists, dicts and the like, taken apart and put together, as torch does it.

Only collections of exactly these types, named tuples, and what is registered are taken apart.
Anything else, None included, is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from gradtool.engine._size import Size


class TreeSpec(msgspec.Struct, frozen=True):
    """The structure of a tree: of a leaf all fields have their defaults."""

    type: type | None = None
    context: Any = None
    """The keys of a dict, the default factory with them, or the length of a deque; of a registered
    type what its own function returns."""
    children_specs: tuple[TreeSpec, ...] = ()

    def is_leaf(self) -> bool:
        """Return True for the structure of a single leaf."""
        return self.type is None

    @property
    def num_leaves(self) -> int:
        """Number of leaves."""
        return 1 if self.type is None else sum(each.num_leaves for each in self.children_specs)

    def __repr__(self) -> str:
        return self._shown(0)

    def _shown(self, indent: int) -> str:
        if self.type is None:
            return "*"
        deeper = indent + 2
        children = f",\n{' ' * deeper}".join(each._shown(deeper) for each in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"


LEAF = TreeSpec()


class _Registered(NamedTuple):
    """The functions that take the instances of a type apart and put them together."""

    flatten: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten: Callable[[Iterable[Any], Any], Any]


_registered: dict[type, _Registered] = {}
_KNOWN = (tuple, list, Size, dict, OrderedDict, defaultdict, deque)


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    **_: Any,
) -> None:
    """Take the instances of a class apart, too.

    Args:
        cls: The class; a class that derives from it is another one.
        flatten_fn: Returns the children of an instance, and a context.
        unflatten_fn: Makes an instance of children and a context.

    Raises:
        ValueError: the class is known.
    """
    if cls in _registered or cls in _KNOWN:
        raise ValueError(
            f"{cls} is already registered as pytree node. "
            "Overwriting the previous registration is not allowed."
        )
    _registered[cls] = _Registered(flatten_fn, unflatten_fn)


def tree_flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and the structure around them."""
    leaves: list[Any] = []
    return leaves, _flatten_into(tree, leaves)


def _flatten_into(tree: Any, leaves: list[Any]) -> TreeSpec:
    parts = _taken_apart(tree)
    if parts is None:
        leaves.append(tree)
        return LEAF
    children, context = parts
    specs = tuple([_flatten_into(each, leaves) for each in children])
    return TreeSpec(type(tree), context, specs)


def _taken_apart(tree: Any) -> tuple[Sequence[Any], Any] | None:
    """The children of a tree and the context to rebuild it; None for a leaf."""
    kind = type(tree)
    if own := _registered.get(kind):
        children, context = own.flatten(tree)
        return list(children), context
    if kind in (tuple, list, Size):
        return tree, None
    if kind in (dict, OrderedDict):
        return list(tree.values()), list(tree)
    if kind is defaultdict:
        return list(tree.values()), [tree.default_factory, list(tree)]
    if kind is deque:
        return list(tree), tree.maxlen
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return tree, None
    return None


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The tree of this structure with these leaves."""
    return _rebuilt(iter(leaves), treespec)


def _rebuilt(leaves: Iterator[Any], spec: TreeSpec) -> Any:
    kind: Any = spec.type
    if kind is None:
        return next(leaves)
    children = [_rebuilt(leaves, each) for each in spec.children_specs]
    if own := _registered.get(kind):
        return own.unflatten(children, spec.context)
    if kind in (dict, OrderedDict):
        return kind(zip(spec.context, children))
    if kind is defaultdict:
        return defaultdict(spec.context[0], zip(spec.context[1], children))
    if kind is deque:
        return deque(children, maxlen=spec.context)
    return kind(children) if kind in (tuple, list, Size) else kind(*children)


def tree_structure(tree: Any) -> TreeSpec:
    """The structure of a tree."""
    return tree_flatten(tree)[1]


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves in order."""
    return tree_flatten(tree)[0]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """The tree with the function applied to each leaf, and to what is there in other trees.

    Raises:
        ValueError: another tree does not begin with the structure of the first.
    """
    leaves, spec = tree_flatten(tree)
    columns = [leaves, *[_flattened_up_to(spec, each) for each in rests]]
    return tree_unflatten([func(*row) for row in zip(*columns)], spec)


def tree_map_only(kinds: Any, func: Callable[..., Any], tree: Any) -> Any:
    """The tree with the function applied to the leaves of these types."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kinds) else leaf, tree)


def _flattened_up_to(spec: TreeSpec, tree: Any) -> list[Any]:
    """The parts of a tree that lie where the leaves of this structure are."""
    if spec.type is None:
        return [tree]
    children = _children_like(spec, tree)
    if children is None:
        raise ValueError(f"Node type mismatch; expected {spec.type}, but got {type(tree)}.")
    return [
        part
        for child, sub in zip(spec.children_specs, children)
        for part in _flattened_up_to(child, sub)
    ]


def _children_like(spec: TreeSpec, tree: Any) -> Sequence[Any] | None:
    """The children of a tree in the order of the structure; None if its root is another."""
    kinds = (dict, OrderedDict, defaultdict)
    if spec.type in kinds and type(tree) in kinds:
        keys = spec.context[1] if spec.type is defaultdict else spec.context
        return [tree[key] for key in keys] if tree.keys() == set(keys) else None
    parts = _taken_apart(tree) if type(tree) is spec.type else None
    if parts is None or len(parts[0]) != len(spec.children_specs):
        return None
    return parts[0]


def broadcast_to_and_flatten(tree: Any, treespec: TreeSpec) -> list[Any] | None:
    """For each leaf of the structure the value that `tree` has for it; None if they do not fit.

    A leaf of `tree` stands for all leaves below its place in the structure.
    """
    if _taken_apart(tree) is None:
        return [tree] * treespec.num_leaves
    children = _children_like(treespec, tree)
    if children is None:
        return None
    values: list[Any] = []
    for child, sub in zip(treespec.children_specs, children):
        part = broadcast_to_and_flatten(sub, child)
        if part is None:
            return None
        values.extend(part)
    return values


class _Star:
    """A leaf that prints as a star."""

    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The structure as the tree would print, with stars for its leaves."""
    return repr(tree_unflatten([_Star()] * treespec.num_leaves, treespec))
