"""Affine and bilinear maps, and the tables that integers look up."""

from __future__ import annotations

from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dtype_support import check_positions
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.linalg.norms import renorm
from gradtool.engine._tensor import Tensor


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``.

    Args:
        input: Of shape (…, in_features).
        weight: Of shape (out_features, in_features) or (in_features,).
        bias: Of shape (out_features,) or ().
    """
    product = matmul(input, weight.t())
    return product if bias is None else product + bias


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


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of a table, by their numbers.

    Args:
        input: Integers of any shape.
        weight: Of shape (rows, features).
        padding_idx: A row that gets no gradient.
        max_norm: Rows that are looked up are first scaled down to this norm, in the table.
        norm_type: Of which p-norm.
        scale_grad_by_freq: Divide a row's gradient by how often it was looked up.
        sparse: Makes no difference here: gradients are dense.

    Raises:
        IndexError: there is no such row.
    """
    check_looked_up(input, "embedding")
    if max_norm is not None:
        _scale_down(weight, input, max_norm, norm_type)
    flat = input.reshape(-1)
    rows = weight.index_select(0, flat)
    if scale_grad_by_freq and weight.dtype.is_differentiable:
        counts = (flat.unsqueeze(-1) == flat).sum(-1).unsqueeze(-1).to(weight.dtype)
        rows = rows.detach() + (rows - rows.detach()) / counts
    if padding_idx is not None:
        padding = padding_idx + weight.shape[0] if padding_idx < 0 else padding_idx
        rows = where((flat == padding).unsqueeze(-1), rows.detach(), rows)
    return rows.reshape(*input.shape, *weight.shape[1:])


def check_looked_up(input: Tensor, name: str) -> None:
    """Refuse what is no integer that names a row.

    Raises:
        RuntimeError: it is neither int64 nor int32.
    """
    check_positions(
        input,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
        f"Long, Int; but got torch.{{}}Tensor instead (while checking arguments for {name})",
        narrow=True,
    )


def _scale_down(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    recording, modes.grad = modes.grad, False
    try:
        rows = input.reshape(-1).unique()
        weight.index_copy_(0, rows, renorm(weight.index_select(0, rows), norm_type, 0, max_norm))
    finally:
        modes.grad = recording


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A row of zeros with a one at the position that each integer names.

    Raises:
        RuntimeError: an integer is negative, or no smaller than `num_classes`.
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


__all__ = ["bilinear", "embedding", "linear", "one_hot"]
