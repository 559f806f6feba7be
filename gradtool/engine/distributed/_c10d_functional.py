"""Operators of ``torch.ops._c10d_functional``: collectives that return their result.

They take what those of ``torch.distributed._functional_collectives`` take, but the size of the
group in place of a dimension, which is the first.
"""

from __future__ import annotations

from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.distributed import _functional_collectives as collectives
from gradtool.engine.distributed._functional_collectives import wait_tensor as wait_tensor


def all_reduce(input: Tensor, reduce_op: str, group_name: str) -> Tensor:
    """Return a copy of a tensor, reduced over one process."""
    return collectives.all_reduce(input, reduce_op, group_name)


def broadcast(input: Tensor, src: int, group_name: str) -> Tensor:
    """Return a copy of the tensor of the process `src`, which is this one."""
    return collectives.broadcast(input, src, group_name)


def all_gather_into_tensor(input: Tensor, group_size: int, group_name: str) -> Tensor:
    """Return a copy of a tensor, joined with those of no other process.

    Raises:
        RuntimeError: the size is not that of the group.
    """
    _check_size(group_size)
    return collectives.all_gather_single(input, 0, group_name)


def reduce_scatter_tensor(
    input: Tensor, reduce_op: str, group_size: int, group_name: str
) -> Tensor:
    """Return a copy of a tensor: one process gets all of it.

    Raises:
        RuntimeError: the size is not that of the group.
    """
    _check_size(group_size)
    return collectives.reduce_scatter_single(input, reduce_op, 0, group_name)


def all_to_all_single(
    input: Tensor, output_split_sizes: Any, input_split_sizes: Any, group_name: str
) -> Tensor:
    """Return a copy of a tensor: all rows go to this process."""
    return collectives.all_to_all_single(input, output_split_sizes, input_split_sizes, group_name)


def _check_size(group_size: int) -> None:
    if group_size != 1:
        raise RuntimeError(f"the group has one process, and not {group_size}")
