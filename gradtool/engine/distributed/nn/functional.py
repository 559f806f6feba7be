"""``torch.distributed.nn.functional``: collectives that autograd differentiates, of one process.

In a group of one process, each returns a copy of its input, whose gradient is that of the copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.distributed._collectives import ReduceOp
from gradtool.engine.distributed._group import group as _groups

_WORLD = _groups.WORLD


def broadcast(tensor: Tensor, src: int, group: Any = _WORLD) -> Tensor:
    """Return a copy of the tensor of the process `src`, which is this one."""
    return tensor.clone()


def gather(tensor: Tensor, dst: int = 0, group: Any = _WORLD) -> tuple[Tensor, ...]:
    """Return a copy of the tensor of each process."""
    return (tensor.clone(),)


def scatter(tensors: Sequence[Tensor], src: int = 0, group: Any = _WORLD) -> Tensor:
    """Return a copy of the tensor for this process."""
    return tensors[0].clone()


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = _WORLD) -> Tensor:
    """Return a copy of a tensor, reduced over one process."""
    return tensor.clone()


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Any = _WORLD
) -> Tensor:
    """Return a copy of the tensor for this process."""
    return input_list[0].clone()


def all_gather(tensor: Tensor, group: Any = _WORLD) -> tuple[Tensor, ...]:
    """Return a copy of the tensor of each process."""
    return (tensor.clone(),)


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: Any = _WORLD
) -> tuple[Tensor, ...]:
    """Return a copy of the tensor for each process."""
    return tuple(each.clone() for each in input_tensor_list)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = _WORLD,
) -> Tensor:
    """Return a copy of a tensor: all rows go to this process."""
    return input.clone()


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = _WORLD) -> Tensor:
    """Return a copy of a tensor, reduced over one process."""
    return tensor.clone()
