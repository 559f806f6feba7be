"""Linear maps: products with a weight, and rows of a table by index."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dtype_support import REAL, TYPE_NAMES, check_positions
from gradtool.engine._ops.core.node_names import give_name, node_name
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.creation.literals import tensor
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.indexing.slicing import index_select
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.norms import renorm
from gradtool.engine._ops.reductions.extremum import amax
from gradtool.engine._ops.reductions.extremum import max as max_along
from gradtool.engine._tensor import Tensor


def _goes_by_rows(input: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    """Return True where torch takes all rows at once, and returns a view of the result."""
    if bias is None or weight.ndim != 2 or input.ndim in (0, 2):
        return False
    return input.is_contiguous() and bias.is_contiguous()


def _linear_node(input: Any, weight: Any, bias: Any = None) -> str | None:
    if bias is None or weight.ndim < 2:
        return None
    return "AddmmBackward0" if input.ndim == 2 else None


@node_name(_linear_node)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``.

    Args:
        input: Of shape (…, in_features).
        weight: Of shape (out_features, in_features) or (in_features,).
        bias: Of shape (out_features,) or ().
    """
    if _goes_by_rows(input, weight, bias):
        rows = linear(input.reshape(-1, input.shape[-1]), weight, bias)
        if rows._node is not None:
            give_name(rows, "AddmmBackward0")
        return rows.view(*input.shape[:-1], weight.shape[0])
    product = matmul(input, weight.t())
    return product if bias is None else product + bias


@node_name(lambda *_, bias=None, **__: "ViewBackward0" if bias is None else "AddBackward0")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2`` for each output feature k, plus the bias.

    Args:
        input1: Of shape (…, in1_features).
        input2: Of shape (…, in2_features).
        weight: Of shape (out_features, in1_features, in2_features).
        bias: Of shape (out_features,).
    """
    left = input1.unsqueeze(-2) if input1.ndim else input1
    halfway = matmul(left.unsqueeze(-2), weight).squeeze(-2)  # (…, out, in2)
    out = (halfway * input2.unsqueeze(-2)).sum(-1, dtype=input1.dtype)
    return out if bias is None else out + bias


@node_name("EmbeddingBackward0")
@of_own_memory
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Look up rows of a table by index.

    Args:
        input: Integers of any shape.
        weight: Of shape (rows, features).
        padding_idx: A row without a gradient.
        max_norm: Rows that are looked up are first scaled down to this norm, in the table.
        norm_type: The p of that norm.
        scale_grad_by_freq: Divide a row's gradient by the number of its look-ups.
        sparse: Ignored: gradients are dense.

    Raises:
        IndexError: an index is out of range.
    """
    check_looked_up(input, "embedding")
    if max_norm is not None:
        _renormalize_rows(weight, input, max_norm, norm_type)
    flat = input if input.ndim == 1 else input.reshape(-1)
    rows = index_select(weight, 0, flat)
    if scale_grad_by_freq and weight.dtype.is_differentiable:
        counts = (flat.unsqueeze(-1) == flat).sum(-1).unsqueeze(-1).to(weight.dtype)
        rows = rows.detach() + (rows - rows.detach()) / counts
    if padding_idx is not None:
        padding = padding_idx + weight.shape[0] if padding_idx < 0 else padding_idx
        rows = where((flat == padding).unsqueeze(-1), rows.detach(), rows)
    return rows if flat is input else rows.reshape(*input.shape, *weight.shape[1:])


def check_looked_up(input: Tensor, name: str) -> None:
    """Refuse indices that are not integers.

    Raises:
        RuntimeError: they are neither int64 nor int32.
    """
    check_positions(
        input,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
        f"Long, Int; but got torch.{{}}Tensor instead (while checking arguments for {name})",
        narrow=True,
    )


def _renormalize_rows(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    recording, modes.grad = modes.grad, False
    try:
        rows = input.reshape(-1).unique()
        weight.index_copy_(0, rows, renorm(weight.index_select(0, rows), norm_type, 0, max_norm))
    finally:
        modes.grad = recording


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return, for each integer, a row of zeros with a one at that position.

    Raises:
        RuntimeError: an integer is negative, or at least `num_classes`.
    """
    if tensor.dtype is not _dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if num_classes == 0 and tensor.numel():
        raise RuntimeError("Class values must be smaller than num_classes.")
    if tensor._level is None and tensor.numel():
        _check_classes(tensor._array, num_classes)
    if num_classes == -1:
        num_classes = int(tensor.max().item()) + 1
    places = arange(num_classes, device=tensor.device)
    return (tensor.unsqueeze(-1) == places).to(_dtypes.int64)


def _check_classes(classes: Any, count: int) -> None:
    if classes.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if count != -1 and classes.max() >= count:
        raise RuntimeError("Class values must be smaller than num_classes.")


@node_name("EmbeddingBagBackward0")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Reduce the rows of each bag by sum, mean or maximum; an empty bag gives zeros.

    Args:
        input: Integers: (bags, members), or those of all bags concatenated.
        weight: Of shape (rows, features).
        offsets: Start of each bag in a one-dimensional input.
        max_norm: Rows that are looked up are first scaled down to this norm, in the table.
        norm_type: The p of that norm.
        scale_grad_by_freq: Divide a row's gradient by the number of its look-ups.
        mode: ``sum``, ``mean`` or ``max``.
        sparse: Ignored: gradients are dense.
        per_sample_weights: A weight for each integer, for ``sum`` alone.
        include_last_offset: Take the last of `offsets` as the end of the last bag.
        padding_idx: A row that is left out.

    Raises:
        ValueError: the shapes do not fit, or the mode is unknown.
        NotImplementedError: there are weights with a mode other than ``sum``.
        IndexError: an index is out of range.
        RuntimeError: rows or integers are of a dtype that PyTorch does not take.
    """
    _check(input, offsets, mode, per_sample_weights)
    check_looked_up(input, "embedding_bag")
    if weight.dtype not in REAL:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
            f"Half, BFloat16, Float, Double; but got torch.{TYPE_NAMES[weight.dtype.name]}Tensor "
            "instead (while checking arguments for embedding_bag)"
        )
    places, inside = _members(input, offsets, include_last_offset)
    flat = input.reshape(-1)
    padding = None if padding_idx is None else padding_idx % weight.shape[0]
    rows = embedding(flat, weight, padding, max_norm, norm_type, scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    table = tensor(places, device=input.device)
    counts = tensor(inside, device=input.device)
    if padding is not None:
        counts = counts & (flat != padding).index_select(0, table.reshape(-1)).reshape(table.shape)
    members = rows.index_select(0, table.reshape(-1)).reshape(*table.shape, rows.shape[-1])
    return _reduce_bags(members, counts.unsqueeze(-1), mode)


def _check(input: Tensor, offsets: Tensor | None, mode: str, weights: Tensor | None) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )
    if weights is not None and weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({list(weights.shape)}) is not None, then it "
            f"must have the same shape as the input ({list(input.shape)})"
        )
    if input.ndim == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
            f"fixed length sequences. However, found offsets of type {type(offsets)}"
        )
    if input.ndim == 1 and offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if input.ndim not in (1, 2):
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}"
        )


def _members(input: Tensor, offsets: Tensor | None, last_is_end: bool) -> tuple[Any, Any]:
    """Positions in the flat input of each bag's members, padded, and a mask of real ones."""
    total = math.prod(input.shape)
    if offsets is None:
        return np.arange(total).reshape(input.shape), np.ones(input.shape, dtype=bool)
    starts = np.asarray(offsets.tolist(), dtype=np.int64)
    if len(starts) and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {starts[0]}"
        )
    bounds = starts if last_is_end else np.append(starts, total)
    counts = np.diff(bounds)
    places = np.arange(counts.max(initial=0))
    inside = places < counts[:, None]
    return (bounds[:-1, None] + places) * inside, inside


def _reduce_bags(members: Tensor, counts: Tensor, mode: str) -> Tensor:
    """Reduce the unmasked members (bags, positions, features) to one row for each bag."""
    if members.shape[1] == 0:
        return members.sum(1)
    if mode == "max":
        lowest = members.masked_fill(~counts, -math.inf)
        largest: Tensor = max_along(lowest, 1).values
        return largest.masked_fill(~amax(counts, 1), 0)
    total = members.masked_fill(~counts, 0).sum(1)
    return total / counts.sum(1).clamp_min(1) if mode == "mean" else total


__all__ = [
    "bilinear", "embedding", "embedding_bag", "linear", "one_hot",
]  # fmt: skip
