"""Products of matrices and functions of matrices: the examples are one more batch dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradtool.engine._levels.batch_rules._rule import Rule, changing, padded
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels.batch import BatchLevel


def _aligned(level: BatchLevel, args: Sequence[Any]) -> list[Tensor]:
    """The tensors below, so that their batch dimensions broadcast."""
    rank = max(arg.ndim for arg in args)
    return [padded(level.below(arg), rank) if level.owns(arg) else arg for arg in args]


def _product(
    level: BatchLevel, _primitive: Any, args: Sequence[Any], _params: dict[str, Any]
) -> Tensor:
    return matmul(*_aligned(level, args))


def _of_vector(
    level: BatchLevel, _primitive: Any, args: Sequence[Any], _params: dict[str, Any]
) -> Tensor:
    """Matrices times a vector: a column for each example."""
    matrices, vector = args
    return matmul(*_aligned(level, (matrices, vector.unsqueeze(-1)))).squeeze(-1)


def _of_vectors(
    level: BatchLevel, _primitive: Any, args: Sequence[Any], _params: dict[str, Any]
) -> Tensor:
    """A row times a column for each example."""
    row, column = args[0].unsqueeze(0), args[1].unsqueeze(1)
    return matmul(*_aligned(level, (row, column))).squeeze((-2, -1))


def _function(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    out: Tensor = primitive.operation(*_aligned(level, args), **params)
    return out


RULES: dict[str, Rule] = {
    **dict.fromkeys(("geqrf", "lu_order"), changing()),
    **dict.fromkeys(("bmm", "matmul", "mm"), _product),
    "dot": _of_vectors,
    "mv": _of_vector,
    **dict.fromkeys(
        (
            "adjugate", "adjugate_slope", "linalg_cholesky", "linalg_det", "linalg_eig",
            "linalg_eigh",
            "linalg_inv", "linalg_lu", "linalg_matrix_exp", "linalg_matrix_rank",
            "linalg_pinv", "linalg_qr", "linalg_solve", "linalg_svd", "lu_rows", "phase_check",
            "slogdet",
        ),
        _function,
    ),
}  # fmt: skip

__all__ = ["RULES"]
