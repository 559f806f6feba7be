"""Collectives of one process: they copy what they are given, or leave it as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad


class ReduceOp:
    """Reductions, which all leave the values of one process as they are."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)


reduce_op = ReduceOp


class Work:
    """A collective that has ended."""

    def wait(self, timeout: Any = None) -> bool:
        """Return True."""
        return True

    def is_completed(self) -> bool:
        """Return True."""
        return True

    def is_success(self) -> bool:
        """Return True."""
        return True


class P2POp:
    """A message to or from another process, of which there is none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise _no_peer()


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Return at once: there is nothing to wait for."""
    return _done(async_op)


def monitored_barrier(*args: Any, **kwargs: Any) -> None:
    """Return at once: there is nothing to wait for."""


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Leave a tensor as it is."""
    return _done(async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Leave a tensor as it is."""
    return _done(async_op)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Leave a tensor as it is."""
    return _done(async_op)


def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy a tensor to the only one of a list."""
    _receive(_only(tensor_list), tensor)
    return _done(async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy a tensor to one of the same number of elements."""
    _receive(output_tensor, input_tensor.reshape(output_tensor.shape))
    return _done(async_op)


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Copy a tensor to the only one of a list."""
    _receive(_only(gather_list), tensor)
    return _done(async_op)


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copy the only tensor of a list to a tensor."""
    _receive(tensor, _only(scatter_list))
    return _done(async_op)


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Copy the only tensor of a list to a tensor."""
    _receive(output, _only(input_list))
    return _done(async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy a tensor to one of the same number of elements."""
    _receive(output, input.reshape(output.shape))
    return _done(async_op)


def all_to_all(
    output_tensor_list: Sequence[Tensor],
    input_tensor_list: Sequence[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Copy the only tensor of a list to that of another."""
    _receive(_only(output_tensor_list), _only(input_tensor_list))
    return _done(async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Copy a tensor to one of the same shape."""
    _receive(output, input)
    return _done(async_op)


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Put an object into a list of one."""
    object_list[0] = obj


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Put an object into a list of one."""
    if object_gather_list is not None:
        object_gather_list[0] = obj


def broadcast_object_list(object_list: list[Any], *args: Any, **kwargs: Any) -> None:
    """Leave a list of objects as it is."""


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: Sequence[Any] | None = None,
    *args: Any,
    **kwargs: Any,
) -> None:
    """Put the only object of one list into another."""
    if scatter_object_input_list is not None:
        scatter_object_output_list[0] = scatter_object_input_list[0]


def send(*args: Any, **kwargs: Any) -> Any:
    """Raise: there is no other process.

    Raises:
        ValueError: always.
    """
    raise _no_peer()


recv: Callable[..., Any] = send
isend: Callable[..., Any] = send
irecv: Callable[..., Any] = send


def _no_peer() -> ValueError:
    return ValueError(
        "Invalid rank: a process cannot send to or receive from itself, and the group has no "
        "other process"
    )


def _only(tensors: Sequence[Tensor] | None) -> Tensor:
    if tensors is None or len(tensors) != 1:
        raise ValueError(
            "a list of tensors must have one for each process of the group, which here is one "
            "process"
        )
    return tensors[0]


def _receive(output: Tensor, sent: Tensor) -> None:
    """Copy entries to a tensor; as in torch, autograd does not see that they arrive.

    Raises:
        RuntimeError: the shapes differ.
    """
    if output.shape != sent.shape:
        raise RuntimeError(
            f"invalid tensor size at index 0 (expected {tuple(sent.shape)}, "
            f"got {tuple(output.shape)})"
        )
    with no_grad():
        output.copy_(sent)


def _done(async_op: bool) -> Work | None:
    return Work() if async_op else None
