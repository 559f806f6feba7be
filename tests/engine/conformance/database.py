"""Entries of PyTorch's operator database that the engine answers for, and their samples."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

torch.set_num_threads(1)
"""Of several threads, which one writes an element last is left to chance (`max_unpool2d`)."""

DTYPES = (torch.float64, torch.complex128, torch.float32)

KERNELS = frozenset({
    "_batch_norm_with_update", "_native_batch_norm_legit", "_segment_reduce",
    "_softmax_backward_data", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate",
    "_upsample_bilinear2d_aa", "max_pool2d_with_indices_backward", "native_batch_norm",
    "jiterator_unary", "jiterator_binary", "jiterator_2inputs_2outputs",
    "jiterator_4inputs_with_extra_args", "jiterator_binary_return_by_ref",
    "torch.ops.aten._flash_attention_forward", "torch.ops.aten._efficient_attention_forward",
})  # fmt: skip
"""Kernels that PyTorch calls on behalf of other operators; nobody writes them."""

SPARSE = ("sparse.", "to_sparse", "torch.ops.aten._safe_softmax.sparse")


def is_dense_and_public(entry: Any) -> bool:
    """Return False for a kernel, and for an operator on or to a sparse tensor."""
    return entry.name not in KERNELS and not entry.name.startswith(SPARSE)


@cache
def entries() -> dict[str, Any]:
    """Differentiable dense entries by name, `name.variant` where there are several."""
    return {
        key(each): each for each in op_db if each.supports_autograd and is_dense_and_public(each)
    }


@cache
def others() -> dict[str, Any]:
    """Dense entries that have no derivative, whose values alone are compared."""
    return {
        key(each): each
        for each in op_db
        if not each.supports_autograd and is_dense_and_public(each)
    }


def key(entry: Any) -> str:
    variant = entry.variant_test_name
    return f"{entry.name}.{variant}" if variant else str(entry.name)


def samples(entry: Any, dtype: torch.dtype) -> Iterator[Any]:
    """The database's samples for a dtype, their tensors drawn from a fixed seed."""
    differentiable = bool(entry.supports_autograd) and dtype in entry.supported_backward_dtypes(
        "cpu"
    )
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from entry.sample_inputs("cpu", dtype, requires_grad=differentiable)


def dtypes_of(entry: Any) -> tuple[torch.dtype, ...]:
    """Those of `DTYPES` that the entry supports on the CPU."""
    return tuple(each for each in DTYPES if each in entry.supported_dtypes("cpu"))
