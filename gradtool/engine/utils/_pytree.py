"""Trees of values, as ``torch.utils._pytree`` has them."""

from gradtool.engine._pytree import (
    TreeSpec,
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
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
    "treespec_pprint",
]
