"""``torch.distributed._functional_collectives``: collectives that return their result.

In a group of one process, each returns a copy of its input. Unlike the collectives that write to a
tensor, they are seen by autograd, as in torch: the gradient is that of a copy. The names that end
in ``_autograd`` do the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine._settings import contiguous_format
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd import Function
from gradtool.engine.distributed._group import GROUP_NAME, ProcessGroup

_OF_BITS = frozenset({"band", "bor", "bxor"})
_REDUCTIONS = frozenset({"sum", "avg", "product", "min", "max"}) | _OF_BITS


class AsyncCollectiveTensor(Tensor):
    """A result that has yet to arrive. The engine makes none: its results are there at once."""


class _Reduced(Function):
    """A copy that has no gradient, as torch has one only of sums."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, reduction: str, collective: str) -> Tensor:
        return _copy(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, ctx.reduction, ctx.collective = inputs

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        raise RuntimeError(
            f"{ctx.collective} backward only supports 'sum' reduction, got '{ctx.reduction}'"
        )


def wait_tensor(tensor: Tensor) -> Tensor:
    """Return a tensor as it is: it has arrived."""
    return tensor


def broadcast(self: Tensor, src: int, group: Any, tag: str = "") -> Tensor:
    """Return a copy of the tensor of the process `src`, which is this one.

    Raises:
        RuntimeError: `src` is the rank of another process.
    """
    _check_group(group)
    if src != 0:
        raise RuntimeError(f"ProcessGroupGloo::broadcast: invalid root rank: {src}")
    return _copy(self)


def all_reduce(self: Tensor, reduceOp: str, group: Any, tag: str = "") -> Tensor:  # noqa: N803 - torch's name
    """Return a copy of a tensor, reduced over one process.

    Raises:
        RuntimeError: the dtype does not allow the reduction, or there is none of that name.
    """
    _check_group(group)
    return _reduced(self, reduceOp, "all_reduce")


def all_gather_single(self: Tensor, gather_dim: int, group: Any, tag: str = "") -> Tensor:
    """Return a copy of a tensor, joined along a dimension with those of no other process.

    Raises:
        RuntimeError: the tensor has no dimension.
    """
    _check_group(group)
    if not self.ndim:
        raise RuntimeError(
            "ProcessGroupGloo::allgather_coalesced: invalid size of output tensor at index 0 "
            "(expected length (), got (1))"
        )
    self.size(gather_dim)  # Raises if there is no such dimension.
    return _copy(self)


def reduce_scatter_single(
    self: Tensor,
    reduceOp: str,  # noqa: N803 - as above
    scatter_dim: int,
    group: Any,
    tag: str = "",
) -> Tensor:
    """Return a copy of a tensor: one process gets all of it.

    Raises:
        RuntimeError: the dtype does not allow the reduction, or there is none of that name.
    """
    _check_group(group)
    self.size(scatter_dim)  # Raises if there is no such dimension.
    return _reduced(self, reduceOp, "reduce_scatter_tensor")


def all_to_all_single(
    self: Tensor,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    group: Any,
    tag: str = "",
) -> Tensor:
    """Return a copy of a tensor: all rows go to this process.

    Raises:
        AssertionError: the sizes are not whole numbers, or only one list of them is given.
        RuntimeError: the sizes are not the number of rows.
    """
    _check_sizes("output_split_sizes", output_split_sizes)
    _check_sizes("input_split_sizes", input_split_sizes)
    _check_group(group)
    if (output_split_sizes is None) != (input_split_sizes is None):
        raise AssertionError(
            "output_split_sizes and input_split_sizes must either be specified together or both "
            "set to None"
        )
    rows = self.shape[0]
    for sizes in (output_split_sizes, input_split_sizes):
        if sizes is not None and list(sizes) != [rows]:
            raise RuntimeError(
                f"Split sizes doesn't match total dim 0 size: one process gets all {rows} rows, "
                f"not {list(sizes)}"
            )
    return _copy(self)


all_gather_single_autograd = all_gather_single
reduce_scatter_single_autograd = reduce_scatter_single
all_to_all_single_autograd = all_to_all_single


def _deprecated(name: str, successor: str, call: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A collective under a name that torch advises against."""
    owner = "torch.distributed._functional_collectives"

    def warns(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`{owner}.{name}` is deprecated. Please use `{owner}.{successor}` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return call(*args, **kwargs)

    warns.__name__ = warns.__qualname__ = name
    warns.__doc__ = call.__doc__
    return warns


all_gather_tensor = _deprecated("all_gather_tensor", "all_gather_single", all_gather_single)
all_gather_tensor_autograd = _deprecated(
    "all_gather_tensor_autograd", "all_gather_single_autograd", all_gather_single
)
reduce_scatter_tensor = _deprecated(
    "reduce_scatter_tensor", "reduce_scatter_single", reduce_scatter_single
)
reduce_scatter_tensor_autograd = _deprecated(
    "reduce_scatter_tensor_autograd", "reduce_scatter_single_autograd", reduce_scatter_single
)


def _check_group(group: Any) -> None:
    """Refuse what is not a group of this process: a ProcessGroup, its name or its ranks.

    Raises:
        ValueError: it is neither, or has other ranks.
        RuntimeError: no group has the name.
    """
    if isinstance(group, ProcessGroup):
        return
    if isinstance(group, str):
        if group != GROUP_NAME:
            raise RuntimeError(
                f"Could not resolve the process group registered under the name {group}"
            )
    elif isinstance(group, list):
        _check_ranks(group)
    else:
        raise ValueError(f"Unsupported group type: {type(group)}, {group}")


def _check_ranks(ranks: list[Any]) -> None:
    warnings.warn(
        "The combination of ranks + tag as process group identifier has been deprecated. Please "
        "switch to using ProcessGroup, DeviceMesh, or group name instead.",
        FutureWarning,
        stacklevel=4,
    )
    if ranks != [0]:
        raise ValueError(f"the group has one process, of rank 0, and not the ranks {ranks}")


def _check_sizes(name: str, sizes: Sequence[int] | None) -> None:
    if sizes is not None and not all(isinstance(size, int) for size in sizes):
        raise AssertionError(f"All {name} must be int or SymInt, got {sizes}")


def _reduced(x: Tensor, reduction: str, collective: str) -> Tensor:
    reduction = reduction.lower()
    if reduction not in _REDUCTIONS:
        raise RuntimeError(f"Unrecognized reduce_op: {reduction}")
    is_whole = not (x.is_floating_point() or x.is_complex())
    if reduction in _OF_BITS and not is_whole:
        raise RuntimeError(f"Cannot use ReduceOp.{reduction.upper()} with non-integral dtype")
    if reduction == "avg" and is_whole:
        raise RuntimeError("result type Float can't be cast to the desired output type Long")
    if reduction == "sum":
        return _copy(x)
    reduced: Tensor = _Reduced.apply(x, reduction, collective)
    return reduced


def _copy(x: Tensor) -> Tensor:
    return x.clone(memory_format=contiguous_format)
