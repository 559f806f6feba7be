"""Tensors of the same values whose elements lie in memory in other ways."""

from __future__ import annotations

import math
from typing import Any

from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import MemoryLayout


def laid(tensor: Any, layout: MemoryLayout) -> Any:
    """`tensor`, which nothing else may hold, with its elements in memory laid out so."""
    with library().torch.no_grad():
        tensor.data = _LAID_OUT[layout](tensor.detach())
    return tensor


def _contiguous(tensor: Any) -> Any:
    return tensor.contiguous()


def _transposed(tensor: Any) -> Any:
    backwards = tuple(reversed(range(tensor.dim())))
    return tensor.permute(backwards).contiguous().permute(backwards)


def _gapped(tensor: Any) -> Any:
    """Between the elements lies NaN, where the dtype has it: who reads it cannot overlook it."""
    gap = math.nan if tensor.is_floating_point() or tensor.is_complex() else 0
    buffer = tensor.new_full([2 * extent for extent in tensor.shape], gap)
    view = buffer[(slice(None, None, 2),) * tensor.dim()]
    view.copy_(tensor)
    return view


def _expanded(tensor: Any) -> Any:
    """Stride 0 along each dimension that all entries are equal along."""
    values = library().array(tensor)
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
