"""Linear algebra at the top of torch's namespace, where names and results are older ones."""

from __future__ import annotations

from gradtool.engine._ops import factorizations, matrix_types
from gradtool.engine._ops.axes import adjoint
from gradtool.engine._tensor import Tensor


def cholesky(x: Tensor, upper: bool = False) -> Tensor:
    """`linalg.cholesky` with its option as a positional argument."""
    return factorizations.cholesky(x, upper=upper)


def qr(x: Tensor, some: bool = True) -> matrix_types.qr:
    """`linalg.qr`: reduced, or else complete."""
    return matrix_types.qr(*factorizations.qr(x, "reduced" if some else "complete"))


def svd(x: Tensor, some: bool = True, compute_uv: bool = True) -> matrix_types.svd:
    """`linalg.svd` with the right vectors as columns; zeros for vectors not asked for."""
    left, values, right = factorizations.svd(x, full_matrices=not some and compute_uv)
    if compute_uv:
        return matrix_types.svd(left, values, adjoint(right))
    rows, columns = x.shape[-2:]
    return matrix_types.svd(
        x.new_zeros((*x.shape[:-2], rows, rows)),
        values,
        x.new_zeros((*x.shape[:-2], columns, columns)),
    )


METHODS = {
    "cholesky": cholesky,
    "qr": qr,
    "svd": svd,
}
"""What is a method of tensors too."""

__all__ = ["cholesky", "qr", "svd"]
