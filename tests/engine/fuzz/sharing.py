"""Memory that tensors share, as a relation that compares across libraries."""

from __future__ import annotations

from typing import Any

import numpy as np


def memory_of(tensor: Any) -> int | None:
    """The address of the memory that a tensor is part of; None where it has none."""
    try:
        return int(tensor.untyped_storage().data_ptr()) or None
    except Exception:  # a tensor of a transform has no memory of its own
        return None


def _grad_of(tensor: Any) -> Any:
    try:
        return tensor.grad if tensor.is_leaf or tensor.retains_grad else None
    except Exception:  # a view that cannot be followed
        return None


def memories(tensors: dict[str, Any]) -> dict[str, int]:
    """The memory of each tensor, and of its gradient as ``NAME.grad``."""
    found = {}
    for name, each in tensors.items():
        for key, tensor in ((name, each), (f"{name}.grad", _grad_of(each))):
            memory = None if tensor is None else memory_of(tensor)
            if memory is not None:
                found[key] = memory
    return found


def share_on_one_side(where: str, one: dict[str, int], other: dict[str, int]) -> bool:
    """Whether a tensor shares memory with another, or with a gradient, on one side only."""
    name = where.partition(".")[0]
    keys = [key for key in (name, f"{name}.grad") if key in one and key in other]
    return any(
        (one[key] == one[each]) != (other[key] == other[each])
        for key in keys
        for each in one.keys() & other.keys()
    )


def overlap(tensors: list[Any]) -> bool:
    """Whether elements of a tensor, or of two of them, share memory."""
    places = [_places(each) for each in tensors if memory_of(each) is not None]
    if any(np.unique(each).size < each.size for each in places):
        return True
    distinct = {each.tobytes(): each for each in places}.values()
    joined = np.concatenate([np.unique(each) for each in distinct]) if places else np.zeros(0)
    return bool(np.unique(joined).size < joined.size)


def _places(tensor: Any) -> Any:
    places = np.zeros(tensor.shape, int)
    for index, stride in zip(np.indices(tensor.shape), tensor.stride(), strict=True):
        places += index * stride * tensor.element_size()
    return (places + tensor.data_ptr()).reshape(-1)
