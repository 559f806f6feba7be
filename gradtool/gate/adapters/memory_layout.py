"""Tensors of the same values whose elements lie in memory in other ways."""

from __future__ import annotations

import math

from gradtool.engine import Tensor, no_grad
from gradtool.engine._tensor import to_numpy
from gradtool.verify.examinable import MemoryLayout


def lay(tensor: Tensor, layout: MemoryLayout) -> None:
    """Move the elements of `tensor`, which nothing else may hold, to memory laid out so."""
    with no_grad():
        tensor._array = _LAID_OUT[layout](tensor.detach())._array


def _contiguous(tensor: Tensor) -> Tensor:
    return tensor.contiguous()


def _transposed(tensor: Tensor) -> Tensor:
    backwards = tuple(reversed(range(tensor.dim())))
    return tensor.permute(backwards).contiguous().permute(backwards)


def _gapped(tensor: Tensor) -> Tensor:
    """Between the elements lies NaN, where the dtype has it: who reads it cannot overlook it."""
    gap = math.nan if tensor._array.dtype.kind in "fc" else 0
    buffer = tensor.new_full([2 * extent for extent in tensor.shape], gap)
    view = buffer[(slice(None, None, 2),) * tensor.dim()]
    view._array[...] = tensor._array
    return view


def _expanded(tensor: Tensor) -> Tensor:
    """Stride 0 along each dimension that all entries are equal along."""
    values = to_numpy(tensor._array)
    kept = tensor
    for axis, extent in enumerate(values.shape):
        if extent > 1 and (values == values.take([0], axis)).all():
            kept = kept.narrow(axis, 0, 1)
    return kept.clone().contiguous().expand(tensor.shape)


_LAID_OUT = {
    "contiguous": _contiguous,
    "transposed": _transposed,
    "gapped": _gapped,
    "expanded": _expanded,
}
