"""Trees of values, as ``torch.utils._pytree`` has them."""

from typing import Any

from gradtool.engine import _placeholder
from gradtool.engine._pytree import (
    TreeSpec,
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_map_only,
    tree_structure,
    tree_unflatten,
    treespec_pprint,
)
from gradtool.engine._pytree import broadcast_to_and_flatten as _broadcast_to_and_flatten

__all__ = [
    "TreeSpec",
    "_broadcast_to_and_flatten",
    "register_pytree_node",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
    "treespec_pprint",
]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _placeholder.placeholder(f"torch.utils._pytree.{name}")
