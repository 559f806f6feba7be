"""``torch.sparse``: products and sums of sparse tensors."""

from __future__ import annotations

import contextlib
from typing import Any

from gradtool.engine.sparse._making import sparse_coo_tensor as _sparse_coo_tensor
from gradtool.engine.sparse._operations import addmm, sampled_addmm, sum
from gradtool.engine.sparse._operations import mm as _mm
from gradtool.engine.sparse._tensor import SparseTensor as _SparseTensor

__all__ = ["addmm", "check_sparse_tensor_invariants", "mm", "sampled_addmm", "sum"]


def mm(mat1: Any, mat2: Any) -> Any:
    """Multiply matrices, at least one of them sparse."""
    is_sparse = isinstance(mat1, _SparseTensor) or isinstance(mat2, _SparseTensor)
    return _mm(mat1, mat2) if is_sparse else mat1 @ mat2


class check_sparse_tensor_invariants(contextlib.ContextDecorator):
    """Accepted; places are always checked.

    Args:
        enable: Accepted, too.
    """

    def __init__(self, enable: bool = True) -> None:
        self.enable_checks = enable

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def _of_type(indices: Any, values: Any = None, size: Any = None) -> Any:
    """A sparse tensor, made by a type of older versions of PyTorch."""
    return _sparse_coo_tensor(indices, values, size)


FloatTensor = DoubleTensor = _of_type
